"""From samples to figures: paired ratios, intervals over processes, groups, and the tables."""

import math
import re
import statistics

import library

CONFIDENCE = 0.95


def interval(values):
    """(median, low, high, covered): the narrowest pair of order statistics that covers the true median with 95 %, the
    extremes where there are too few values (docs/measuring.md)."""
    values = sorted(values)
    n = len(values)
    cut = 0
    while cut + 1 < (n + 1) // 2 and covered_by(n, cut + 1) >= CONFIDENCE:
        cut += 1
    return statistics.median(values), values[cut], values[n - 1 - cut], covered_by(n, cut)


def covered_by(n, cut):
    return sum(math.comb(n, k) for k in range(cut + 1, n - cut)) / 2**n


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Figures:
    """What the records of a comparison say. A process is the unit: each gives one number, the interval is over them."""

    def __init__(self, records):
        self.times, self.values, self.failures = {}, {}, {}
        for record in records:
            key = record.get("case"), record.get("threads")
            if record["kind"] == "time":
                self.times.setdefault(key, {})[record["process"]] = record
            elif record["kind"] == "value":
                self.values[record["case"], record["row"]] = record
            elif record["kind"] == "failed":
                self.failures[record["case"], record["row"]] = record["message"]

    def processes(self):
        """How many processes the cells have numbers of: fewest and most."""
        counts = [len(cell) for cell in self.times.values()]
        return (min(counts), max(counts)) if counts else (0, 0)

    def others(self):
        """The processors that others kept busy while we measured: median and largest of the cells."""
        parts = [record.get("others", 0) for cell in self.times.values() for record in cell.values()]
        return (statistics.median(parts), max(parts)) if parts else (0, 0)

    def time_ns(self, key, row):
        return self.interval_of(key, lambda record: statistics.median(record["ns"][row]))

    def ratio_of(self, record, row):
        """How many times longer `row` takes than ours, sample by sample of the same round."""
        ours, theirs = record["ns"]["kerf"], record["ns"][row]
        return statistics.median(b / a for a, b in zip(ours, theirs))

    def ratio(self, key, row):
        return self.interval_of(key, lambda record: self.ratio_of(record, row))

    def interval_of(self, key, number_of):
        try:
            numbers = [number_of(record) for record in self.times.get(key, {}).values()]
        except KeyError:
            return None
        return interval(numbers) if numbers else None

    def mean(self, keys, number_of):
        """Geometric mean over the keys of number_of(key, process), in every process that has all that it needs."""
        keys = list(keys)
        if not keys:
            return None
        means = []
        for process in set.intersection(*(set(self.times.get(key, {})) for key in keys)):
            try:
                means.append(geometric_mean([number_of(key, process) for key in keys]))
            except KeyError:
                continue
        return interval(means) if means else None

    def share(self, key, copies):
        """The part of the speed of a copy, the faster of `copies`, that ours reaches."""
        return self.interval_of(key, lambda record: min(self.ratio_of(record, copy) for copy in copies))

    def mean_ratio(self, keys, row):
        return self.mean(keys, lambda key, process: self.ratio_of(self.times[key][process], row))

    def median_ns(self, key, process, row="kerf"):
        return statistics.median(self.times[key][process]["ns"][row])

    def limit_scale(self, keys, most):
        """How many times as fast `most` threads may be by the limits of the machine; None where a record has none."""
        limits = [[next(iter(self.times[text, count].values())).get("limit_ns", 0) for count in (1, most)]
                  for text, _ in keys]
        return geometric_mean([one / many for one, many in limits]) if keys and all(map(all, limits)) else None


# ---- groups --------------------------------------------------------------------------------------------------------

INTERPOLATIONS = ("bilinear", "bicubic", "nearest")
GROUPS = ("C >= 32, NCHW", "C >= 32, channels-last", "C = 3, both layouts", "C = 1")


def interpolation_of(text):
    return library.fields_of(text).get("interpolation_mode", "bilinear")


def group_of(text):
    fields = library.fields_of(text)
    channels = int(fields["C"])
    if channels >= 32:
        return GROUPS[1] if fields.get("layout") == "nhwc" else GROUPS[0]
    return {3: GROUPS[2], 1: GROUPS[3]}.get(channels)


def with_dtype(text, dtype):
    return re.sub(r"\bdtype=\w+", "dtype=" + dtype, text)


def show(figure, digits=2):
    """`7.31 [7.12, 7.40]`; of one process alone, which says nothing about others, `7.31`"""
    if not figure:
        return "-"
    if not figure[3]:
        return f"{figure[0]:.{digits}f}"
    return "{:.{d}f} [{:.{d}f}, {:.{d}f}]".format(*figure[:3], d=digits)


def show_ns(figure):
    if not figure:
        return "-"
    ns = figure[0]
    for unit, factor in (("us", 1e3), ("ms", 1e6)):
        if ns < 1e3 * factor:
            break
    return f"{ns / factor:.3g} {unit}"


def markdown(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def plain(heads, rows):
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() + "\n"
                   for cells in (heads, *rows))


def group_table(figures, cases, threads, row):
    rows = []
    for interpolation in INTERPOLATIONS:
        for count in threads:
            cells = []
            for group in GROUPS:
                keys = [(text, count) for text in cases if "dtype=f32" in text and group_of(text) == group and
                        interpolation_of(text) == interpolation and (text, count) in figures.times]
                cells.append(show(figures.mean_ratio(keys, row)) + f" ({len(keys)})" if keys else "-")
            if any(cell != "-" for cell in cells):
                rows.append([interpolation, str(count), *cells])
    return ["", "threads", *GROUPS], rows


def dtype_table(figures, cases, threads, row):
    """Other types: elements per second of ours as a part of f32's, and the peer's time over ours, both C >= 32."""
    rows = []
    for dtype in ("f16", "bf16", "f64"):
        for interpolation in INTERPOLATIONS:
            for count in threads:
                texts = [text for text in cases if f"dtype={dtype} " in text + " " and int(
                    library.fields_of(text)["C"]) >= 32 and interpolation_of(text) == interpolation]
                keys = [(text, count) for text in texts
                        if (text, count) in figures.times and (with_dtype(text, "f32"), count) in figures.times]
                if not keys:
                    continue
                speed = figures.mean(keys, lambda key, process: figures.median_ns(
                    (with_dtype(key[0], "f32"), key[1]), process) / figures.median_ns(key, process))
                rows.append([dtype, interpolation, str(count), str(len(keys)), show(speed),
                             show(figures.mean_ratio(keys, row))])
    return ["type", "", "threads", "cases", "elements per second, of our f32", "peer / ours"], rows


def scaling_table(figures, cases, threads):
    """Time on one thread over time on the most, by group; cases of more than 1 MiB. Beside it how the limits of these
    rows scale, and the part of that which is reached."""
    rows, most = [], max(threads)
    for interpolation in INTERPOLATIONS:
        cells = []
        for group in GROUPS:
            keys = [(text, most) for text in cases if "dtype=f32" in text and group_of(text) == group and
                    interpolation_of(text) == interpolation and figures.times.get((text, most)) and
                    figures.times.get((text, 1)) and
                    next(iter(figures.times[text, most].values()))["bytes"] > 1 << 20]
            scale = figures.mean(keys, lambda key, process: figures.median_ns(
                (key[0], 1), process) / figures.median_ns(key, process)) if keys else None
            limit = figures.limit_scale(keys, most)
            cells.append((f"{show(scale)} ({len(keys)})" if scale else "-") +
                         (f"; {scale[0] / limit:.2f} of the limit's {limit:.2f}" if scale and limit else ""))
        if any(cell != "-" for cell in cells):
            rows.append([interpolation, *cells])
    return ["", *GROUPS], rows


def show_value(figures, text, row):
    failure = figures.failures.get((text, row))
    if failure:
        return failure
    value = figures.values.get((text, row))
    if not value:
        return "-"
    if not value["n_bad"]:
        return f"{value['ratio']:.2g}"
    told = f"wrong: {percent(value['bad_part'])} of the elements"
    if value["class_part"] > 0:
        told += f", {percent(value['class_part'])} in being finite or not"
    if value["class_part"] < value["bad_part"]:
        told += f", by up to {percent(value['error_part'])} of the largest"
    if "storage_bad_part" in value:
        told += f"; {percent(value['storage_bad_part'])} with accumulate=storage"
    return told


def percent(part):
    if part >= 10:
        return f"{part:.2g} times"
    return f"{100 * part:.2g} %" if part < 0.995 else f"{100 * part:.0f} %"


def short(text):
    """The case without what most cases share."""
    return re.sub(r" (seed=1|dtype=f32)\b", "", " " + text).strip()


def case_table(figures, cases, threads, peers, values, copies=()):
    """`peers` maps rows to the names and versions that the heads show."""
    heads, rows = ["case"], []
    for count in threads:
        heads.append(f"ours, {count} thr.")
        if copies:
            heads.append("share of the copy")
        for title in peers.values():
            heads += [f"{title}, {count} thr.", "ratio"]
    if values:
        heads += ["error / slack, ours", *peers.values()]
    for text in cases:
        cells = [f"`{short(text)}`"]
        for count in threads:
            key = text, count
            cells.append(show_ns(figures.time_ns(key, "kerf")))
            if copies:
                cells.append(show(figures.share(key, copies)))
            for peer in peers:
                cells += [show_ns(figures.time_ns(key, peer)), show(figures.ratio(key, peer))]
        if values:
            cells += [show_value(figures, text, row) for row in ("kerf", *peers)]
        rows.append(cells)
    return heads, rows


def value_table(figures, cases, peers):
    rows = [[f"`{text}`", *(show_value(figures, text, row) for row in ("kerf", *peers))] for text in cases]
    return ["case", "ours", *peers.values()], rows
