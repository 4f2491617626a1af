"""One process of a comparison: reads a job, runs its cases, writes what it measured. Started by comparison.py with
allocator settings in its environment. A peer that crashes ends this process only; the line before says which."""

import importlib
import json
import math
import os
import random
import sys
import time

import library

BATCH_NS = 100_000         # a sample lasts at least so long
WARM_NS_PER_BYTE = 10      # a longer call needs no untimed one before: loading its operands is below 1 % of it
WAKE_NS = 3_000_000        # after a pause the first calls of several threads are slow
LEAST_ROUNDS, MOST_ROUNDS = 5, 40
ATTEMPTS, OTHERS_PART = 3, 0.15  # where others took more than so much of a processor, again; the quietest attempt stays


at = {}  # the case and the side whose turn it is


def say(**record):
    print(json.dumps(record), flush=True)


def announce(**turn):
    """Before anything that can crash: the parent then knows who did."""
    at.update(turn)
    say(kind="at", **turn)


def sample_ns(call, batch):
    begin = time.perf_counter_ns()
    for _ in range(batch):
        call()
    return (time.perf_counter_ns() - begin) / batch


def settle():
    """Threads of the side whose turn it was spin for a while before they sleep: wait until nobody works."""
    for _ in range(100):
        busy = time.process_time_ns()
        time.sleep(0.001)
        if time.process_time_ns() - busy < 200_000:
            return


def busy_s():
    """Processor time of the whole machine so far, what a hypervisor took included, and of this process."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK"), time.process_time()


class Row:
    """One side of the comparison on one case."""

    def __init__(self, name, call, case):
        self.name, self.call = name, call
        call()
        first = sample_ns(call, 1)
        self.batch = max(1, min(256, round(BATCH_NS / first)))
        self.ns = sample_ns(call, self.batch)
        self.warm = self.ns < WARM_NS_PER_BYTE * case.bytes
        self.samples = []

    def turn(self, threads):
        if threads > 1:
            settle()
        for _ in range(self.warm_calls(threads)):
            self.call()
        self.samples.append(sample_ns(self.call, self.batch))

    def warm_calls(self, threads):
        return max(int(self.warm), math.ceil(WAKE_NS / self.ns) if threads > 1 else 0)

    def turn_ns(self, threads):
        return self.ns * (self.batch + self.warm_calls(threads)) + (2e6 if threads > 1 else 0)


class Worker:
    def __init__(self, job):
        self.job, self.library = job, library.Library(job["build"], job["op"])
        self.library.pin_to(job["cpus"])
        self.random = random.Random(f"{job['seed']} {job['process']}")
        self.peers = {name: importlib.import_module(f"peer_{name}") for name in job["peers"]}
        for peer in self.peers.values():
            peer.set_threads(job["cells"][0]["threads"])

    def sides(self, skip):
        """The names of those that are compared. Each is announced before its first call, so that a crash has a name."""
        return [*self.job["libraries"], *self.job["copies"], *(peer for peer in self.peers if peer not in skip)]

    def path_of(self, name):
        return name if name in self.job["copies"] else self.job["libraries"].get(name)

    def time_case(self, text, threads, skip):
        case = library.Case(self.library, text, threads, self.random.getrandbits(64))
        rows = []
        for name in self.sides(skip):
            announce(case=text, row=name)
            settle()
            path = self.path_of(name)
            rows.append(Row(name, case.caller(case.bind(path)) if path else self.peers[name].caller(case), case))
        round_ns = sum(row.turn_ns(threads) for row in rows)
        rounds = max(LEAST_ROUNDS, min(MOST_ROUNDS, int(self.job["case_s"] * 1e9 / round_ns)))
        best = None
        for _ in range(ATTEMPTS):
            others = self.take_rounds(rows, rounds, threads)
            if best is None or others < best["others"]:
                best = {"others": others, "ns": {row.name: [round(ns) for ns in row.samples] for row in rows}}
            if others < OTHERS_PART:
                break
        say(kind="time", case=text, threads=threads, process=self.job["process"], bytes=case.bytes,
            limit_ns=case.limit_ns, **best)
        rows.clear()
        case.close()

    def take_rounds(self, rows, rounds, threads):
        """Returns the processors that others kept busy meanwhile, on average."""
        for row in rows:
            row.samples.clear()
        wall, (all_before, own_before) = time.perf_counter(), busy_s()
        for _ in range(rounds):
            for row in self.random.sample(rows, len(rows)):
                row.turn(threads)
        all_after, own_after = busy_s()
        busy = all_after - all_before - (own_after - own_before)
        return round(max(0, busy) / (time.perf_counter() - wall), 3)

    def judge(self, case, packed):
        """Under the rules of the case, and what sums in the storage type may do where these are broken."""
        found = case.judge(0, packed)
        if found["n_bad"] and library.bytes_of(case.dtype) == 2 and self.job["op"] == "grid_sampler_grad":
            case.expect(1)
            found["storage_bad_part"] = case.judge(1, packed)["bad_part"]
        return found

    def check_case(self, text, threads, skip):
        case = library.Case(self.library, text, threads, self.random.getrandbits(64))
        case.expect(0)
        for name in self.sides(skip):
            announce(case=text, row=name)
            path = self.path_of(name)
            packed, _alive = (case.result(case.bind(path)), None) if path else self.peers[name].result(case)
            say(kind="value", case=text, threads=threads, row=name, **self.judge(case, packed))
        case.close()

    def run(self):
        for cell in self.job["cells"]:
            if time.time() > self.job["deadline"]:
                return
            text, threads, skip = cell["case"], cell["threads"], cell["skip"]
            try:
                (self.check_case if self.job["values"] else self.time_case)(text, threads, skip)
            except Exception as failure:  # peers have exceptions of their own
                say(kind="failed", **at, message=str(failure).splitlines()[0])


def main():
    try:
        worker = Worker(json.load(sys.stdin))
    except (OSError, ImportError) as failure:
        say(kind="broken", message=str(failure).splitlines()[0])
        return
    worker.run()


if __name__ == "__main__":
    main()
