#!/usr/bin/env python3
# SPDX-License-Identifier: 0BSD
"""Checks the output of cpucycles-info --json: info_json.py SCHEMA FILE...

Against the schema, by the part of JSON Schema that it uses, and that what is
said twice agrees. Prints what is wrong.
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


def has_type(value, names):
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(names, str):
        names = [names]
    return any(isinstance(value, TYPES[name]) for name in names)


def check(value, schema, root, where):
    """Each keyword in turn; one that is not known here is an error. What may
    be null has no other keyword to obey then."""
    simple = {
        "enum": lambda v: value in v,
        "pattern": lambda v: re.search(v, value),
        "minLength": lambda v: len(value) >= v,
        "minimum": lambda v: value >= v,
        "maximum": lambda v: value <= v,
        "minItems": lambda v: len(value) >= v,
        "maxItems": lambda v: len(value) <= v,
        "required": lambda v: all(key in value for key in v),
        "additionalProperties": lambda v: v
        or not set(value) - set(schema["properties"]),
    }
    if "type" in schema and not has_type(value, schema["type"]):
        wrong.append(f"{where}: {value!r} is no {schema['type']}")
    elif value is not None or "$ref" in schema:
        for word, v in schema.items():
            if word == "$ref":
                check(value, root["$defs"][v.rsplit("/", 1)[1]], root, where)
            elif word == "items":
                for i, item in enumerate(value):
                    check(item, v, root, f"{where}[{i}]")
            elif word not in OTHERS | {"type"} and not simple[word](v):
                wrong.append(f"{where}: {value!r} against {word} {v!r}")
        for key, inner in schema.get("properties", {}).items():
            if key in value:
                check(value[key], inner, root, f"{where}.{key}")


def must(condition, text):
    if not condition:
        wrong.append(text)


def agree(report):
    """What the schema cannot say."""
    calls = report["calls"]
    diffs = sorted(calls["differences"])
    middle = diffs[len(diffs) // 4 : -(len(diffs) // 4)]
    must(calls["min"] == diffs[0], "min")
    must(calls["max"] == diffs[-1], "max")
    must(abs(calls["iqm"] - sum(middle) / len(middle)) < 0.006, "iqm")
    quartiles = [diffs[(len(diffs) - 1) * i // 4] for i in (1, 2, 3)]
    must(calls["quartiles"] == quartiles, "quartiles")
    counters = report["counters"]
    kinds = [
        c["kind"]
        for c in counters
        if c["name"] == report["implementation"] and c["usable"]
    ]
    must(kinds == [report["kind"]], "the implementation is not as its counter")
    for c in counters:
        name, step = c["name"], c["step"]
        must(c["usable"] == (c["reason"] == ""), name + ": reason")
        must(not c["usable"] or c["hint"] == "", name + ": hint")
        must((step > 0) == (c["precision"] > 0), name + ": precision")
        must(step <= c["precision"], name + ": step")
        must("; " not in c["reason"] + c["hint"], name + ": not split")
    for o in report["observed"]:
        must(o["low"] <= o["high"], "bounds are not in order")
    for name, o in report["environment"].items():
        must(o["in_force"] == (o["reason"] == ""), name + ": reason")
    if "noise" in report:
        agree_noise(report["noise"])


def agree_noise(noise):
    must(noise["interrupts"] is not None, "only preemption may be unknown")
    for name in ("interrupts", "preemption"):
        gaps = noise[name] or noise["interrupts"]
        must(gaps["median_ns"] <= gaps["longest_ns"], name + ": median")
    must(noise["dither"] <= noise["dither_worst"], "dither")
    steps = noise["rate_steps"]
    must((steps["per_second"] > 0) == (steps["size"] > 0.005), "steps")
    must((noise["turbo"] is True) == ("turbo" in noise["hints"]), "turbo")


def no_twins(pairs):
    must(len(dict(pairs)) == len(pairs), "a name is there twice in an object")
    return dict(pairs)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as f:
            report = json.load(
                f,
                object_pairs_hook=no_twins,
                parse_constant=lambda word: must(False, word + " is not JSON"),
            )
        check(report, schema, schema, "report")
        if not wrong:
            agree(report)
        for line in wrong:
            print("#", name, line)
    return bool(wrong)


sys.exit(main())
