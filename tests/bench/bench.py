#!/usr/bin/env python3
# SPDX-License-Identifier: 0BSD
"""Runs the benchmarks, in a build directory in which make bench has built them,
and shows what they found."""
import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.normpath(os.path.join(HERE, "../.."))
PROGRAMS = ["call", "first", "accuracy", "share", "count"]
TITLES = {
    "machine": "The machine",
    "call": "1. A call, for every usable counter",
    "first": "2. The first call, in fresh processes",
    "truth": "3. The truth: error in percent against chains of known length, and "
             "steps of the core's rate meanwhile",
    "truth-fresh": "3. The truth of the first half millisecond",
    "share": "4. The share of the time that calibration takes",
    "instructions": "5. Instructions of a later call",
    "size": "6. The size of the shared library",
    "claims": "What is claimed, and what was found here",
}


class Table:
    """Rows and columns in the order in which values came."""

    def __init__(self):
        self.rows, self.columns = {}, []

    def set(self, row, column, value):
        self.rows.setdefault(row, {})[column] = str(value)
        if column not in self.columns:
            self.columns.append(column)

    def column(self, name):
        return {row: values[name] for row, values in self.rows.items()
                if name in values}

    def grid(self, missing=""):
        yield [missing] + self.columns
        for row, values in self.rows.items():
            yield [row] + [values.get(c, missing) for c in self.columns]

    def numeric(self, column):
        return all(re.fullmatch(r"-|[+-]?\d+(\.\d+)?", value)
                   for value in self.column(column).values())

    def text(self):
        grid = list(self.grid())
        width = [max(map(len, cells)) for cells in zip(*grid)]
        right = [False] + [self.numeric(c) for c in self.columns]
        return "".join("  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r
                                 in zip(cells, width, right)).rstrip() + "\n"
                       for cells in grid)

    def markdown(self):
        lines = ["| " + " | ".join(cells) + " |" for cells in self.grid()]
        lines.insert(1, "|---" + "".join(
            "|---:" if self.numeric(c) else "|---" for c in self.columns) + "|")
        return "\n".join(lines) + "\n"


class Tables(dict):
    """By name. A name that nothing was said of is an empty table."""

    def __missing__(self, name):
        self[name] = Table()
        return self[name]

    def most(self, table, columns, rows="", kind=None):
        """The highest value where columns and rows match, as printed."""
        return max((v[c] for r, v in self[table].rows.items() for c in v
                    if re.search(rows, r) and re.search(columns, c)
                    and kind in (None, v.get("kind"))),
                   key=float, default=None)


def output(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL).stdout.strip()
    except OSError:
        return ""


def matches(regex, file):
    """The first group of the first match, as grep would find it."""
    try:
        with open(file, encoding="utf-8") as f:
            found = re.search(regex, f.read(), re.M)
    except OSError:
        return ""
    return found.group(1) if found else ""


def cpu():
    """As pages name it: its brand name may be that of several."""
    found = [(text, matches(f"^{key}\\s*: *(.*)", "/proc/cpuinfo"))
             for text, key in [("", "model name"), ("family ", "cpu family"),
                               ("model ", "model")]]
    return ", ".join(text + value for text, value in found if value)


def machine(table):
    cc, flags = (matches(f"^{v} = (.*)", "Makefile") for v in ("CC", "CFLAGS"))
    hypervisor = re.search("^Hypervisor vendor: *(.*)", output("lscpu"), re.M)
    system = os.uname()
    for row, value in [
            ("date", datetime.datetime.now(datetime.timezone.utc).date()),
            ("commit", output("git", "-C", TOP, "describe", "--always",
                              "--dirty", "--exclude=*")),
            ("CPU", cpu()),
            ("CPUs", os.cpu_count()),
            ("virtual", hypervisor.group(1) if hypervisor else
             "no, as far as lscpu can tell"),
            ("kernel", f"{system.sysname} {system.release.split('-')[0]} "
             f"{system.machine}"),
            ("compiler", f"{cc} {flags}, "
             f"{output(cc.split()[0], '-dumpversion') if cc else ''}"),
            ("load when it began", f"{os.getloadavg()[0]:.2f}")]:
        if value:
            table.set(row, "is", value)


def sizes(table):
    """The sections of the library that are code, and those of each thread."""
    size = output("size", "-A", "-d", ".libs/libcpucycles.so")
    for row, sections in [
            ("code", r"init|plt(?:\.got|\.sec)?|text|fini"),
            ("thread-local data, a thread", "tdata|tbss")]:
        found = re.findall(rf"^\.(?:{sections}) +(\d+)", size, re.M)
        if found:
            table.set(row, "bytes", sum(map(int, found)))


def measure(tables, programs):
    shared = os.path.abspath(".libs/libcpucycles.so.1")
    # A step is an interruption, after which a calibrated counter would do more
    # than usual.
    steps = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
    for name in programs:
        done = subprocess.run(
            [f"./tests/bench/{name}"], stdout=subprocess.PIPE, text=True,
            env=os.environ | (steps if name == "count" else {}) |
            ({"BENCH_SHARED": shared} if os.path.exists(shared) else {}))
        if done.returncode not in (0, 77):  # 77: not on this machine
            sys.exit(f"bench: tests/bench/{name} failed")
        for line in done.stdout.splitlines():
            _, table, *value = line.split("\t")
            tables[table].set(*value)


def moving(tables):
    return float(tables.most("share", "steps a second") or 0) > 50


# What is claimed of the library: the part of the page, a text, the limit, and
# what was found. README.md has the same texts and limits.
CLAIMS = [
    *((1, f"a call of a {kind} counter, of a call of the instruction", limit,
       lambda tables, kind=kind: tables.most("call", "of a call$", kind=kind))
      for kind, limit in [("core", 1.02), ("reference", 1.02),
                          ("calibrated", 1.25)]),
    (1, "a call after an interruption, ns", 2000,
     lambda tables: tables.most("call", "after a signal, ns")),
    (2, "the first call, ms", 0.25, lambda tables: tables.most("first", "ms")),
    (2, "system calls of the first call", 70,
     lambda tables: tables.most("first", "system calls")),
    *((3, f"error of {kind} counters, {text}, %", limit,
       lambda tables, kind=kind, column=column:
           tables.most("truth", f"^{column}$", kind=kind))
      for kind, text, limit, column in [
          ("core", "median", None, "error"),
          ("calibrated", "median", 0.05, "error"),
          ("calibrated", "90th percentile", 0.15, "error p90"),
          ("reference", "median", None, "error")]),
    *((3, f"error in the first half millisecond, {text}, %", limit,
       lambda tables, column=column: tables.most("truth-fresh", f"^{column}$"))
      for text, limit, column in [("median", 0.15, "error"),
                                  ("90th percentile", 0.5, "error p90")]),
    *((4, f"share of the time for calibration where the rate {text}, %", limit,
       lambda tables, moves=moves: None if moving(tables) != moves else
           tables.most("share", "% of the time", "all the time$"))
      for text, limit, moves in [("stands still", 0.25, False),
                                 ("moves", 2, True)]),
    (6, "code, bytes", 40960,
     lambda tables: tables.most("size", "bytes", "^code")),
    (6, "thread-local data, bytes", 160,
     lambda tables: tables.most("size", "bytes", "^thread")),
]


def disturbances(tables, part):
    """What may have kept a limit from being kept, as the same run saw it."""
    steps = {3: "truth", 4: "share"}.get(part)
    persecond = tables.most(steps, "steps a second") if steps else None
    if float(persecond or 0) >= 1:
        size = tables.most(steps, "size, %")
        yield (f"the core stepped {float(persecond):.0f} times a second" +
               (f" by {float(size):.0f}%" if size else ""))
    load = tables["machine"].rows["load when it began"]["is"]
    if part < 5 and float(load) > os.cpu_count() / 4:
        yield f"the load was {load} on {os.cpu_count()} CPUs"


def add_claims(tables):
    table = tables["claims"]
    for part, text, limit, find in CLAIMS:
        found = find(tables)
        if found is None:
            continue
        kept = limit is None or float(found) <= limit
        why = "; ".join(disturbances(tables, part)) or "not known: do report it"
        table.set(text, "part", part)
        table.set(text, "found", str(found).lstrip("+"))
        table.set(text, "at most", "-" if limit is None else limit)
        table.set(text, "kept", "-" if limit is None else
                  "yes" if kept else f"no: {why}")


def markdown_table(regex, page):
    """The cells of the first table of a page whose first line matches."""
    try:
        with open(page, encoding="utf-8") as file:
            found = re.search(rf"^\| *{regex}.*\n(\|.*\n)+", file.read(), re.M)
    except OSError:
        found = None
    return [[cell.strip() for cell in row.split("|")[1:-1]]
            for row in found[0].splitlines()] if found else []


def beside(claims, page):
    """The claims and what was found: here, and in the page so far elsewhere."""
    table, here = Table(), cpu() or "this CPU"
    rows = markdown_table(r"\| part \| at most", page)
    before = {row[0]: dict(zip(rows[0][3:], row[3:])) for row in rows[2:]}
    for part, text, limit, _ in CLAIMS:
        found = {name: value for name, value in before.get(text, {}).items()
                 if name != here and value}
        if text in claims.rows:
            value, kept = (claims.rows[text][c] for c in ("found", "kept"))
            found[here] = value + (f" ({kept[4:]})"
                                   if kept.startswith("no: ") else "")
        if found:
            table.set(text, "part", part)
            table.set(text, "at most", "-" if limit is None else limit)
        for name in sorted(found):
            table.set(text, name, found[name])
    return table


def write_page(tables, to):
    """doc/benchmarks.md with these tables in the place of its own, each behind a
    comment with its name."""
    page = os.path.join(TOP, "doc/benchmarks.md")
    tables["claims-page"] = beside(tables["claims"], page)
    with open(page, encoding="utf-8") as file:
        text = re.sub(r"^<!-- (.*) -->\n(\n(\|.*\n)+)?",
                      lambda m: f"<!-- {m[1]} -->\n" + (
                          "\n" + tables[m[1]].markdown()
                          if tables[m[1]].rows else ""), file.read(), flags=re.M)
    with open(os.path.join(to, "benchmarks.md"), "w", encoding="utf-8") as file:
        file.write(text)
    if not shutil.which("gnuplot"):
        print("bench: no gnuplot: the chart stays as it is", file=sys.stderr)
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        for row in tables["truth"].grid("-"):
            print("\t".join(row), file=file, flush=True)
        subprocess.run(["gnuplot", "-e", f"truth = '{file.name}'; "
                        f"to = '{os.path.abspath(to)}'",
                        os.path.join(HERE, "chart.gp")], check=True)


def measure_all():
    tables = Tables()
    machine(tables["machine"])
    sizes(tables["size"])
    measure(tables, PROGRAMS)
    add_claims(tables)
    return tables


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", metavar="DIRECTORY", help="writes there "
                        "benchmarks.md and, with gnuplot, its chart")
    options = parser.parse_args()
    tables = measure_all()
    if options.page:
        write_page(tables, options.page)
        return
    print("\n".join(f"{title}\n{tables[name].text()}" for name, title
                    in TITLES.items() if tables[name].rows))


if __name__ == "__main__":
    main()
