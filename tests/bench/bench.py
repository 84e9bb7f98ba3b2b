#!/usr/bin/env python3
# SPDX-License-Identifier: 0BSD
"""Runs the benchmarks, in a build directory in which make bench has built them,
and shows what they found.

With --check: builds them in bench-check, with the same flags everywhere, and
compares what is exact with what it should be:
- the instructions of a later call with tests/bench/expected, which has them for
  some compilers; a change must be deliberate;
- the size of the library's code and of a thread's data, and the system calls of
  the first call, with their limits;
- what README.md claims with the limits here;
- whether all of make bench runs to its end, and its page is whole.
"""
import argparse
import collections
import datetime
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.normpath(os.path.join(HERE, "../.."))

# What is claimed of the library: the part of the page, a text, the limit ("-":
# none), and where to find it: a table, its columns, and rows, by their name and
# kind. README.md has the same texts and limits.
CLAIMS = [
    (1, "a call of a core counter, of a call of the instruction", 1.02,
     "call", "of a call$", " core$"),
    (1, "a call of a reference counter, of a call of the instruction", 1.02,
     "call", "of a call$", " reference$"),
    (1, "a call of a calibrated counter, of a call of the instruction", 1.25,
     "call", "of a call$", " calibrated$"),
    (1, "a call after an interruption, ns", 2000, "call", "after a signal", ""),
    (2, "the first call, ms", 0.25, "first", "^ms", ""),
    (2, "system calls of the first call", 70, "first", "system calls", ""),
    (3, "error of core counters, median, %", "-", "truth", "^error$", " core$"),
    (3, "error of calibrated counters, median, %", 0.05,
     "truth", "^error$", " calibrated$"),
    (3, "error of calibrated counters, 90th percentile, %", 0.15,
     "truth", "^error p90", " calibrated$"),
    (3, "error of reference counters, median, %", "-",
     "truth", "^error$", " reference$"),
    (3, "error in the first half millisecond, median, %", 0.15,
     "truth-fresh", "^error$", ""),
    (3, "error in the first half millisecond, 90th percentile, %", 0.5,
     "truth-fresh", "^error p90", ""),
    (4, "share of the time for calibration where the rate stands still, %",
     0.25, "share", "% of the time", ""),
    (4, "share of the time for calibration where the rate moves, %", 2,
     "share", "% of the time", ""),
    (6, "code, bytes", 45056, "size", "bytes", "^code"),
    (6, "thread-local data, bytes", 160, "size", "bytes", "^thread"),
]


def grid(table, missing=""):
    columns = dict.fromkeys(c for row in table.values() for c in row)
    return [[missing, *columns]] + [
        [name] + [str(row.get(c, missing)) for c in columns]
        for name, row in table.items()]


def numeric(cells):
    """For each column, whether it has nothing but numbers."""
    return [all(re.fullmatch(r"|-|[+-]?\d+(\.\d+)?", cell)
                for cell in column[1:]) for column in zip(*cells)]


def text(table):
    cells = grid(table)
    right = numeric(cells)
    width = [max(map(len, column)) for column in zip(*cells)]
    return "".join("  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r
                             in zip(row, width, right)).rstrip() + "\n"
                   for row in cells)


def markdown(table):
    cells = grid(table)
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    lines.insert(1, "".join("|---:" if right else "|---"
                            for right in numeric(cells)) + "|")
    return "\n".join(lines) + "\n"


def most(table, columns, rows=""):
    """The highest value where columns and rows match, as printed."""
    return max((row[c] for name, row in table.items()
                if re.search(rows, f"{name} {row.get('kind')}")
                for c in row if re.search(columns, c)), key=float, default=None)


def output(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL).stdout.strip()
    except OSError:
        return ""


def read(file):
    try:
        with open(file, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def value_of(key, lines):
    found = re.search(rf"^{key}[\t ]*[:=] *(.*)", lines, re.M)
    return found[1] if found else ""


def cpu():
    """As pages name it: its brand name may be that of several."""
    info = read("/proc/cpuinfo")
    found = [(before, value_of(key, info)) for before, key in
             [("", "model name"), ("family ", "cpu family"), ("model ", "model")]]
    return ", ".join(before + value for before, value in found if value)


def machine():
    cc, flags = (value_of(v, read("Makefile")) for v in ("CC", "CFLAGS"))
    system = os.uname()
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).date(),
        "commit": output("git", "-C", TOP, "describe", "--always", "--dirty",
                         "--exclude=*"),
        "CPU": cpu(),
        "CPUs": os.cpu_count(),
        "virtual": value_of("Hypervisor vendor", output("lscpu")) or
                   "no, as far as lscpu can tell",
        "kernel": f"{system.sysname} {system.release.split('-')[0]} "
                  f"{system.machine}",
        "compiler": f"{cc} {flags}, {output(*cc.split()[:1], '-dumpversion')}",
        "load when it began": f"{os.getloadavg()[0]:.2f}"}
    return {name: {"is": value} for name, value in facts.items() if value}


def sizes():
    """The sections of the library that are code, and those of each thread."""
    size = output("size", "-A", "-d", ".libs/libcpucycles.so")
    found = {name: re.findall(rf"^\.(?:{sections}) +(\d+)", size, re.M)
             for name, sections in [
                 ("code", r"init|plt(?:\.got|\.sec)?|text|fini"),
                 ("thread-local data, a thread", "tdata|tbss")]}
    return {name: {"bytes": sum(map(int, sections))}
            for name, sections in found.items() if sections}


def claims(tables):
    """A limit that was not kept has in parentheses what disturbed the run."""
    share, truth, table = tables["share"], tables["truth"], {}
    moves = float(most(share, "steps a second") or 0) > 50
    disturbed = (f"the core stepped {most(truth, 'steps a second') or 0} times a "
                 f"second by {most(truth, 'size, %') or 0}%; the load was "
                 f"{tables['machine']['load when it began']['is']}")
    for part, claim, limit, where, *which in CLAIMS:
        found = most(tables[where], *which)
        if found is None or (part == 4 and moves != ("moves" in claim)):
            continue
        kept = limit == "-" or float(found) <= limit
        table[claim] = {"part": part, "at most": limit, "found":
                        str(found).lstrip("+") + (
                            "" if kept else f" ({disturbed})")}
    return table


def measure_all():
    """By name; each is a dict of rows, which are dicts of columns."""
    tables = collections.defaultdict(lambda: collections.defaultdict(dict))
    tables["machine"] = machine()
    tables["size"] = sizes()
    # A step is an interruption, after which a calibrated counter would do more
    # than usual.
    steps = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
    for name in ["call", "first", "accuracy", "share", "count"]:
        done = subprocess.run(
            [f"./tests/bench/{name}"], stdout=subprocess.PIPE, text=True,
            env=os.environ | (steps if name == "count" else {}))
        if done.returncode not in (0, 77):  # 77: not on this machine
            sys.exit(f"bench: tests/bench/{name} failed")
        for line in done.stdout.splitlines():
            _, table, row, column, value = line.split("\t")
            tables[table][row][column] = value
    tables["claims"] = claims(tables)
    return tables


def markdown_table(regex, page):
    """The cells of the first table of a page whose first line matches."""
    found = re.search(rf"^\| *{regex}.*\n(\|.*\n)+", read(page), re.M)
    return [[cell.strip() for cell in row.split("|")[1:-1]]
            for row in found[0].splitlines()] if found else []


def beside(found_here, page):
    """The claims and what was found: here, and in the page so far elsewhere."""
    table, here = {}, cpu() or "this CPU"
    rows = markdown_table(r"\| part \| at most", page)
    before = {row[0]: dict(zip(rows[0][3:], row[3:])) for row in rows[2:]}
    for part, claim, limit, *_ in CLAIMS:
        found = before.get(claim, {})
        found[here] = found_here.get(claim, {}).get("found", "")
        if any(found.values()):
            table[claim] = {"part": part, "at most": limit,
                            **dict(sorted(found.items()))}
    return table


def write_page(tables, to):
    """doc/benchmarks.md with these tables in the place of its own, each behind a
    comment with its name."""
    page = os.path.join(TOP, "doc/benchmarks.md")
    tables["claims-page"] = beside(tables["claims"], page)
    changed = re.sub(r"^<!-- (.*) -->\n(\n(\|.*\n)+)?",
                     lambda m: f"<!-- {m[1]} -->\n" + (
                         "\n" + markdown(tables[m[1]]) if tables[m[1]] else ""),
                     read(page), flags=re.M)
    with open(os.path.join(to, "benchmarks.md"), "w", encoding="utf-8") as file:
        file.write(changed)
    if not shutil.which("gnuplot"):
        print("bench: no gnuplot: the charts stay as they are", file=sys.stderr)
        return
    to = os.path.abspath(to)
    truth = "\n".join("\t".join(row) for row in grid(tables["truth"], "-"))
    gnuplot(f"$truth << END\n{truth}\nEND\nto = '{to}'\n"
            f"load '{HERE}/chart.gp'\n")
    draw_following(to)


def gnuplot(commands):
    subprocess.run(["gnuplot"], check=True, text=True, input=commands)


def draw_following(to):
    """The picture of how a count follows three cores, and as text in the page."""
    with open("follow.data", "w", encoding="utf-8") as file:
        subprocess.run(["./tests/bench/follow"], check=True, stdout=file,
                       env=os.environ | {"top_srcdir": TOP})
    titles = re.findall('^"(.*)"$', read("follow.data"), re.M)
    gnuplot(f"array titles[{len(titles)}] = {json.dumps(titles)}\n"
            f"data = 'follow.data'\nto = '{to}'\nload '{HERE}/follow.gp'\n")
    drawn = "".join(line.rstrip() + "\n" for line in
                    read(f"{to}/follow.txt").replace("\f", "").splitlines()
                    if line.strip())
    os.remove(f"{to}/follow.txt")
    os.remove("follow.data")
    page = os.path.join(TOP, "man/cpucycles.7")
    changed = re.sub(r'(?<=\.\\" make bench-charts draws this\n)(.*\n)*?(?=\.Ed)',
                     lambda _: ".Bd -literal\n" + drawn, read(page))
    into = page if to == os.path.join(TOP, "doc") else f"{to}/cpucycles.7"
    with open(into, "w", encoding="utf-8") as file:
        file.write(changed)


def mistakes(tables):
    """Yields what is not as it should be."""
    code = f"{os.uname().machine} {tables['machine']['compiler']['is']}\t"
    expected = read(f"{HERE}/expected").splitlines()
    known = any(line.startswith(code) for line in expected)
    for name, row in tables["instructions"].items():
        line = f"{code}{name}\t{row['instructions']}"
        if known and line not in expected:
            yield f"this is not in tests/bench/expected: {line}"
    if not (known and tables["instructions"]):
        print(f"bench: no instructions are expected of {code.strip()}",
              file=sys.stderr)
    for claim in ["system calls of the first call", "code, bytes",
                  "thread-local data, bytes"]:
        row = tables["claims"].get(claim, {"found": ""})
        if "(" in row["found"]:
            yield f"{claim}: {row['found']}, at most {row['at most']}"
    limits = {claim: str(limit) for _, claim, limit, *_ in CLAIMS}
    rows = markdown_table(r"claim \| at most", f"{TOP}/README.md")[2:]
    for claim, limit in rows or [("README.md has no claims", "")]:
        if limits.get(claim) != limit:
            yield f"{claim}: at most {limit} in README.md, {limits.get(claim)} here"
    write_page(tables, ".")
    shown = re.findall(r"^<!-- (.*) -->\n\n\|", read("benchmarks.md"), re.M)
    for name, table in tables.items():
        if table and name not in shown + ["claims"]:
            yield f"the page has no table called {name}"


def check():
    os.makedirs("bench-check", exist_ok=True)
    os.chdir("bench-check")
    os.environ["BENCH_QUICK"] = "1"
    if not os.path.exists("Makefile"):
        # By a relative path, as configure takes none with a space.
        subprocess.run([os.path.relpath(f"{TOP}/configure"), "-q",
                        "CXX=false", "CFLAGS=-O2"], check=True)
    subprocess.run(["make", "-s", "benches"], check=True)
    found = list(mistakes(measure_all()))
    print("\n".join(found) or "all that is exact is as expected")
    sys.exit(len(found) > 0)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", metavar="DIRECTORY", help="writes there "
                        "benchmarks.md and, with gnuplot, its chart")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        check()
    elif options.page:
        write_page(measure_all(), options.page)
    else:
        print("\n".join(f"{name}\n{text(table)}"
                        for name, table in measure_all().items() if table))


if __name__ == "__main__":
    main()
