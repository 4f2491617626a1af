"""A comparison of our plain C entries with peers: options, workers, records and the report. The scripts grid_sampler
and space_batch start it with a Subject."""

import argparse
import datetime
import hashlib
import json
import os
import platform
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import figures
import library

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXIT_USAGE, EXIT_BROKEN, EXIT_AGAIN = 2, 1, 75
COPIES = library.COPIES
PACKAGES = {"torch": ("torch", "PyTorch"), "tensorflow": ("tensorflow-cpu", "TensorFlow"),
            "onnxruntime": ("onnxruntime", "ONNX Runtime")}


@dataclass
class Subject:
    """What a script compares. `tables(options, found, peers, timed)` gives (title, (heads, rows)) above the cases;
    `values` are case lines that only values are taken of."""
    about: str
    ops: tuple  # the first is the default
    peers: tuple
    tables: Callable
    cases: Callable = lambda options: None
    values: Path | None = None
    copies: tuple = ()


def stop(message, code=EXIT_USAGE):
    print(f"{Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(code)


def named_library(text):
    name, separator, path = text.rpartition("=")
    if not re.fullmatch(r"[\w.+-]+", name if separator else Path(path).stem) or not Path(path).is_file():
        raise argparse.ArgumentTypeError(f"`{text}`: give NAME=PATH with the path of a libkerf_kernels.so that exists")
    return name or Path(path).stem, str(Path(path).resolve())


def threads_list(text):
    counts = [int(part) if part.isdigit() else 0 for part in text.split(",")]
    if not all(1 <= count <= 1024 for count in counts):
        raise argparse.ArgumentTypeError(f"`{text}`: give numbers of threads from 1 to 1024 with commas between")
    return sorted(set(counts))


def positive(text):
    try:
        if float(text) > 0:
            return float(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"`{text}`: give a number above 0")


def parse_options(subject):
    parser = argparse.ArgumentParser(description=subject.about, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    add = parser.add_argument
    add("--op", choices=subject.ops, default=subject.ops[0], help=f"default {subject.ops[0]}")
    add("--quick", action="store_true", help="a short list of cases, one number of threads, no values")
    add("--cases", type=Path, metavar="FILE", help="case lines as in docs/cases.md instead of the list of the script")
    add("--filter", action="append", default=[], metavar="TEXT", help="only cases whose text holds it; all of several")
    add("--threads", type=threads_list, metavar="LIST", help="default 1,2; with --quick 1")
    add("--lib", action="append", default=[], type=named_library, metavar="NAME=PATH", help="another build")
    for peer in subject.peers:
        add(f"--no-{peer}", action="store_true", help=f"without {PACKAGES[peer][1]}")
    add("--no-values", action="store_true", help="times only, no oracle")
    add("--no-times", action="store_true", help="values only")
    add("--no-build", action="store_true", help="what stands in the build folder is up to date")
    add("--processes", type=int, default=6, metavar="N", help="processes, each a number in the intervals; default 6")
    add("--case-time", type=positive, metavar="S", help="per case, threads and process; default 0.2, quick 0.12")
    add("--limit", type=positive, metavar="S", help="stop after so many seconds; exit code 75 if something is left")
    add("--seed", type=int, default=1, metavar="N")
    add("--out", type=Path, metavar="FILE", help="records as JSON lines; what they hold already is not measured again")
    add("--docs", type=Path, nargs="?", const=ROOT / "docs/peers.md", metavar="FILE",
        help="write the tables between the marks of this page; default docs/peers.md")
    options = parser.parse_args()
    options.libraries = dict(options.lib)
    taken = {"kerf", *PACKAGES, *COPIES}
    if taken & set(options.libraries) or len(options.libraries) < len(options.lib):
        parser.error(f"each --lib needs a name of its own, other than {', '.join(sorted(taken))}")
    if not 1 <= options.processes <= 100:
        parser.error(f"--processes {options.processes}: 1 to 100")
    options.threads = options.threads or ([1] if options.quick else [1, 2])
    options.no_values = options.no_values or options.quick
    options.case_time = options.case_time or (0.12 if options.quick else 0.2)
    options.cases = options.cases or subject.cases(options)
    options.peers = [peer for peer in subject.peers if not getattr(options, f"no_{peer}")]
    options.copies = subject.copies
    return options


# ---- surroundings --------------------------------------------------------------------------------------------------


def build(options):
    folder = Path(os.environ.get("KERF_BUILD_DIR", ROOT / "build/release")).resolve()
    if not options.no_build:
        command = f'. "{ROOT}/scripts/setup" && setup_build kerf_kernels_shared kerf_peers'
        if subprocess.run(["bash", "-ec", command], stdout=sys.stderr).returncode != 0:
            sys.exit(EXIT_BROKEN)
    if not (folder / "libkerf_peers.so").is_file():
        stop(f"{folder} holds no libkerf_peers.so: leave out --no-build", EXIT_BROKEN)
    options.libraries = {"kerf": str(folder / "libkerf_kernels.so"), **options.libraries}
    return folder


def find_peers(options):
    """The interpreter that has the peers, the folders where their libraries are found, and {peer: version}."""
    folder = Path(os.environ.get("KERF_PEERS_DIR", ROOT / "build/peers"))
    python, paths, versions = folder / "bin/python", folder / "library_path", {}
    for peer in options.peers:
        package, title = PACKAGES[peer]
        ask = [python, "-c", f"from importlib.metadata import version; print(version('{package}'))"]
        asked = python.is_file() and subprocess.run(ask, text=True, capture_output=True)
        if asked and asked.returncode == 0:
            versions[peer] = asked.stdout.strip()
        else:
            print(f"{Path(sys.argv[0]).name}: no {title} in {folder}: scripts/peers/setup makes it", file=sys.stderr)
    return str(python) if versions else None, paths.read_text().strip() if paths.is_file() else "", versions


CPUS = sorted(os.sched_getaffinity(0))


def environment_of(library_path):
    """No first touch of fresh pages is timed: what PyTorch frees stays in the heap and is handed out again. Its threads
    are bound to processors in order, as ours are."""
    paths = [path for path in (library_path, os.environ.get("LD_LIBRARY_PATH", "")) if path]
    return {**os.environ, "MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
            "OMP_PROC_BIND": "true", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "",
            "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in CPUS),
            **({"LD_LIBRARY_PATH": ":".join(paths)} if paths else {})}


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]


# ---- records --------------------------------------------------------------------------------------------------------


class Records:
    """Lines in memory, and in a file if one is given; a file of other libraries or of another machine is refused."""

    def __init__(self, path, head):
        self.path, self.lines, self.head = path, [], head
        if path and path.is_file():
            for number, line in enumerate(path.read_text().splitlines(), 1):
                try:
                    self.lines.append(json.loads(line))
                    self.lines[-1]["kind"]
                except (ValueError, KeyError, TypeError):
                    stop(f"{path}:{number}: no record of a comparison; give another file")
        if not self.lines:
            self.add({**head, "date": datetime.date.today().isoformat()})
        old = {name: value for name, value in self.lines[0].items() if name != "date"}
        if old != head:
            stop(f"{path} was measured with other libraries or on another machine: remove it or give another file")
        self.date = self.lines[0]["date"]

    def add(self, record):
        self.lines.append(record)
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    def has(self, kind, **fields):
        return any(line["kind"] == kind and all(line.get(k) == v for k, v in fields.items()) for line in self.lines)

    def skips(self, text):
        return [line["row"] for line in self.lines if line["kind"] == "failed" and line["case"] == text]


# ---- workers --------------------------------------------------------------------------------------------------------


class Comparison:
    def __init__(self, options, folder, records, python, library_path):
        self.options, self.folder, self.records = options, folder, records
        self.python, self.environment = python, environment_of(library_path)
        self.deadline = time.time() + options.limit if options.limit else float("inf")

    def start(self, job):
        process = subprocess.Popen([self.python or sys.executable, "-B", str(HERE / "worker.py")], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        process.stdin.write(json.dumps(job))
        process.stdin.close()
        return process

    def run_once(self, job):
        """One worker. True: it ended by itself; False: a side failed, which is now recorded, and the rest is open."""
        process, at = self.start(job), None
        for line in process.stdout:
            record = json.loads(line)
            kind = record["kind"]
            if kind in ("time", "value"):
                self.records.add(record)
            elif kind == "at":
                at = record
            elif kind == "broken":
                stop(record["message"], EXIT_BROKEN)
            elif kind == "failed":
                self.fail(record["case"], record["row"], record["message"])
        code = process.wait()
        if code == 0:
            return True
        if code > 0 or not at:
            stop(f"a worker ended with code {code}; its message stands above", EXIT_BROKEN)
        self.fail(at["case"], at["row"], f"crashed ({signal.Signals(-code).name})")
        return False

    def fail(self, text, row, message):
        if row not in PACKAGES:
            stop(f"{row} on `{text}`: {message}", EXIT_BROKEN)
        self.records.add({"kind": "failed", "case": text, "row": row, "message": message})

    def run(self, cells_of, process, values):
        """Cells that are still open, until none is or the time is up."""
        while True:
            cells = [{"case": text, "threads": threads, "skip": self.records.skips(text)}
                     for text, threads in cells_of()]
            # TensorFlow takes its number of threads once: a worker has one.
            cells = [cell for cell in cells if cell["threads"] == cells[0]["threads"]]
            if not cells or time.time() >= self.deadline:
                return
            job = {"build": str(self.folder), "libraries": self.options.libraries,
                   "peers": list(self.records.head["peers"]),
                   "op": self.options.op, "seed": self.options.seed, "process": process,
                   "cells": cells,
                   "values": values,
                   "copies": [] if values else self.options.copies,
                   "case_s": self.options.case_time, "cpus": CPUS, "deadline": min(self.deadline, 1e18)}
            self.run_once(job)

    def open_values(self, cases):
        rows = [*self.options.libraries, *self.records.head["peers"]]
        return [(text, max(self.options.threads)) for text in cases
                if any(not self.records.has("value", case=text, row=row) and row not in self.records.skips(text)
                       for row in rows)]

    def open_times(self, cases, process):
        cases = random.Random(f"{self.options.seed} {process}").sample(cases, len(cases))
        return [(text, threads) for text in cases for threads in self.options.threads
                if not self.records.has("time", case=text, threads=threads, process=process)]

    def measure(self, timed, checked):
        processes = range(0 if self.options.no_times else self.options.processes)
        for process in processes:
            self.run(lambda: self.open_times(timed, process), process, False)
            if sys.stderr.isatty():
                print(f"process {process + 1} of {self.options.processes}", file=sys.stderr)
        if not self.options.no_values:
            self.run(lambda: self.open_values(checked), self.options.processes, True)
        left = sum(len(self.open_times(timed, process)) for process in processes)
        return left + (0 if self.options.no_values else len(self.open_values(checked)))


# ---- report ---------------------------------------------------------------------------------------------------------


def titled_tables(subject, options, found, peers, timed, checked):
    """(title, (heads, rows)) of all that can be said."""
    values = not options.no_values
    yield from subject.tables(options, found, peers, timed)
    yield "Cases", figures.case_table(found, timed, options.threads, peers, values, options.copies)
    if values and checked:
        yield "Values only", figures.value_table(found, checked, peers)


def write_docs(path, op, text):
    page = path.read_text() if path.is_file() else ""
    figures_of = "figures" if op == "grid_sampler_grad" else f"figures of {op}"
    begin, end = f"<!-- {figures_of}: begin -->\n", f"<!-- {figures_of}: end -->\n"
    if begin not in page or end not in page:
        stop(f"{path} lacks the marks `{begin.strip()}` and `{end.strip()}` between which the tables go")
    temporary = path.with_suffix(".new")
    temporary.write_text(page[:page.index(begin)] + begin + "\n" + text + "\n" + page[page.index(end):])
    temporary.replace(path)


def report(subject, options, records, timed, checked):
    found = figures.Figures(records.lines)
    peers = {name: name for name in list(options.libraries)[1:]}
    peers.update((peer, f"{PACKAGES[peer][1]} {version}") for peer, version in records.head["peers"].items())
    head, counts, others = records.head, found.processes(), found.others()
    covered = figures.interval(range(max(1, counts[0])))[3]
    intervals = (f"Intervals over {' to '.join(map(str, sorted(set(counts))))} processes (at least {covered:.1%})."
                 if covered else "Where only one process measured, a figure has no interval.")
    about = (f"{head['cpu']}, {head['isa']}, {head['processors']} processors, {records.date}; against "
             f"{' and '.join(peers.values()) or 'nothing'}.\n{intervals} "
             f"Others took {others[0]:.2f} processors meanwhile (median; {others[1]:.2f} at worst).")
    tables = list(titled_tables(subject, options, found, peers, timed, checked))
    for title, table in tables:
        if table[1]:
            print(f"{title}\n{figures.plain(*table)}")
    print(about)
    if options.docs:
        write_docs(options.docs, options.op, "\n".join([about + "\n"] + [
            f"### {title}\n\n{figures.markdown(*table)}" for title, table in tables if table[1]]))


def run(subject):
    options = parse_options(subject)
    folder = build(options)
    python, library_path, versions = find_peers(options)
    try:
        entry = library.Library(folder, options.op)
        timed = [text for text in entry.read_cases(str(options.cases)) if all(part in text for part in options.filter)]
        extra = entry.read_cases(str(subject.values)) if subject.values and not options.no_values else []
    except (library.Failure, OSError) as failure:
        stop(failure)
    checked = [text for text in extra if all(part in text for part in options.filter)]
    if not timed + checked:
        stop(f"no case of {options.cases} holds {' and '.join(options.filter) or 'anything'}")
    head = {"kind": "peers", "schema": 1, "op": options.op, **entry.machine(), "processors": os.cpu_count(),
            "kernel": platform.release(), "peers": versions, "case_time_s": options.case_time, "seed": options.seed,
            "libraries": {name: digest(path) for name, path in options.libraries.items()}}
    records = Records(options.out, head)
    left = Comparison(options, folder, records, python, library_path).measure(timed, timed + checked)
    report(subject, options, records, timed, checked)
    if left:
        stop(f"{left} measurements are left; the same command goes on with them", EXIT_AGAIN)


def main(subject):
    try:
        run(subject)
    except KeyboardInterrupt:
        sys.exit(130)
