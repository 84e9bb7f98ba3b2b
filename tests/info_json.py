#!/usr/bin/env python3
# SPDX-License-Identifier: 0BSD
"""Checks the output of cpucycles-info --json: info_json.py SCHEMA FILE...

Against the schema, by the part of JSON Schema that it uses (and by the module
jsonschema too, where that is installed), and that what is said twice agrees. Prints what
is wrong.
"""
import json
import re
import sys

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
# Keywords that say nothing about a value, or are looked at with another.
OTHERS = {"$schema", "$defs", "title", "description", "properties"}

wrong = []


def has_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def as_list(value):
    return value if isinstance(value, list) else [value]


def check(value, schema, root, where):
    """Each keyword in turn; one that is not known here is an error."""
    simple = {
        "type": lambda v: any(has_type(value, t) for t in as_list(v)),
        "enum": lambda v: value in v,
        "pattern": lambda v: re.search(v, value),
        "minLength": lambda v: value is None or len(value) >= v,
        "minimum": lambda v: value is None or value >= v,
        "maximum": lambda v: value is None or value <= v,
        "minItems": lambda v: len(value) >= v,
        "maxItems": lambda v: len(value) <= v,
        "required": lambda v: value is None or all(key in value for key in v),
        "additionalProperties": lambda v: v
        or value is None
        or not set(value) - set(schema["properties"]),
    }
    for word, v in schema.items():
        if word == "$ref":
            check(value, root["$defs"][v.rsplit("/", 1)[1]], root, where)
        elif word == "items":
            for i, item in enumerate(value):
                check(item, v, root, f"{where}[{i}]")
        elif word not in OTHERS and not simple[word](v):
            wrong.append(f"{where}: {value!r} against {word} {v!r}")
            return
    for key, v in schema.get("properties", {}).items():
        if value is not None and key in value:
            check(value[key], v, root, f"{where}.{key}")


def agree(report):
    """What the schema cannot say."""

    def must(condition, text):
        if not condition:
            wrong.append(text)

    calls = report["calls"]
    diffs = sorted(calls["differences"])
    middle = diffs[len(diffs) // 4 : -(len(diffs) // 4)]
    must(calls["min"] == diffs[0], "min")
    must(calls["max"] == diffs[-1], "max")
    must(abs(calls["iqm"] - sum(middle) / len(middle)) < 0.006, "iqm")
    must(
        calls["quartiles"]
        == [diffs[(len(diffs) - 1) * i // 4] for i in (1, 2, 3)],
        "quartiles",
    )
    counters = report["counters"]
    named = [c for c in counters if c["name"] == report["implementation"]]
    must(len(named) == 1, "the implementation is not one of the counters")
    must(
        named and named[0]["usable"] and named[0]["kind"] == report["kind"],
        "the implementation is not usable, or its kind is another",
    )
    for c in counters:
        must(c["usable"] == (c["reason"] == ""), c["name"] + ": reason")
        must(not c["usable"] or c["hint"] == "", c["name"] + ": hint")
        must(
            (c["step"] > 0) == (c["precision"] > 0)
            and c["step"] <= c["precision"],
            c["name"] + ": step",
        )
        must("; " not in c["reason"] + c["hint"], c["name"] + ": not split")
    for o in report["observed"]:
        must(o["low"] <= o["high"], "bounds are not in order")
    for name, o in report["environment"].items():
        must(o["in_force"] == (o["reason"] == ""), name + ": reason")
    noise = report.get("noise")
    if noise is None:
        return
    must(noise["interrupts"] is not None, "only preemption may be unknown")
    for name in ("interrupts", "preemption"):
        gaps = noise[name] or noise["interrupts"]
        must(gaps["median_ns"] <= gaps["longest_ns"], name + ": median")
    must(noise["dither"] <= noise["dither_worst"], "dither")
    steps = noise["rate_steps"]
    must((steps["per_second"] > 0) == (steps["size"] > 0.005), "steps")
    must((noise["turbo"] is True) == ("turbo" in noise["hints"]), "turbo")


def no_twins(pairs):
    if len(dict(pairs)) != len(pairs):
        wrong.append("a name is there twice in an object")
    return dict(pairs)


def no_constant(name):
    wrong.append(name + " is not JSON")


def check_file(name, schema):
    with open(name, encoding="utf-8") as f:
        report = json.load(
            f, object_pairs_hook=no_twins, parse_constant=no_constant
        )
    check(report, schema, schema, "report")
    try:
        import jsonschema

        jsonschema.validate(report, schema)
    except ImportError:
        pass
    if not wrong:
        agree(report)
    for line in wrong:
        print("#", name, line)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    for name in sys.argv[2:]:
        check_file(name, schema)
    return bool(wrong)


sys.exit(main())
