#!/usr/bin/env python3
# SPDX-License-Identifier: 0BSD
"""Checks the output of cpucycles-info --json: info_json.py SCHEMA FILE...

Against the schema, and that what is said twice agrees. Prints what is wrong.
"""
import json
import sys

import jsonschema

wrong = []


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
    for name in ("interrupts", "preemption"):
        gaps = noise[name]
        must((gaps["share"] or 0) <= 1, name + ": share")
        must((gaps["median_ns"] or 0) <= (gaps["longest_ns"] or 0), name)
    must(noise["dither"]["share"] <= noise["dither"]["worst"], "dither")


def no_twins(pairs):
    must(len(dict(pairs)) == len(pairs), "a name is there twice in an object")
    return dict(pairs)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = jsonschema.Draft202012Validator(json.load(f))
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as f:
            report = json.load(
                f,
                object_pairs_hook=no_twins,
                parse_constant=lambda word: must(False, word + " is not JSON"),
            )
        for error in schema.iter_errors(report):
            must(False, f"{error.json_path}: {error.message}")
        if not wrong:
            agree(report)
        for line in wrong:
            print("#", name, line)
    return bool(wrong)


sys.exit(main())
