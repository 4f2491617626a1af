"""Draws the figures of `bench report --html`: reads {"figures": [...]} on standard input, writes on standard output
{"figures": [{"svg": "..."} or {"missing": "why"}]} in the same order. Exit code 3: this Python has no matplotlib.

Colours are written as variables of the page, so that one drawing serves light and dark. Texts come from records and are
foreign: nothing in them is taken as mathematics or as a path."""

import io
import json
import re
import sys

try:
    import matplotlib
except ImportError:
    sys.exit(3)

matplotlib.use("svg")
from matplotlib import rcdefaults  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter  # noqa: E402

# Colours that stand for those of the page, and the page's names for them.
INK, DIM, LINE, PAPER = "#010203", "#010204", "#010205", "#010206"
SERIES = [f"#0102{0x10 + i:02x}" for i in range(8)]
NAMES = {INK: "var(--ink)", DIM: "var(--dim)", LINE: "var(--line)", PAPER: "var(--paper)"}
NAMES |= {colour: f"var(--c{i})" for i, colour in enumerate(SERIES)}
MARKERS = "osD^vP*X"
WIDTH_INCHES = 10.5


def configure():
    rcdefaults()
    matplotlib.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "kerf", "text.usetex": False, "text.parse_math": False,
        "font.family": "sans-serif", "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold",
        "axes.titlelocation": "left", "axes.formatter.use_mathtext": False, "axes.unicode_minus": False,
        "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": DIM, "axes.linewidth": 0.8,
        "xtick.color": DIM, "ytick.color": DIM, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
        "grid.color": LINE, "grid.linewidth": 0.8, "axes.grid": True, "axes.axisbelow": True,
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    })


def plain(text, most=64):
    """A foreign text on one line. A dollar sign would begin mathematics where parse_math is not known."""
    text = " ".join(str(text).split()).replace("$", "\\$" if "text.parse_math" not in matplotlib.rcParams else "$")
    return text if len(text) <= most else text[:most - 1] + "\u2026"


def short(value, _position=None):
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e6 or value == 0 else f"{value:.0e}"


def log_axis(axis, values):
    """A logarithmic axis with plain numbers, the more of them the fewer decades are to be seen."""
    values = [value for value in values if value > 0]
    span = max(values, default=1) / min(values, default=1)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if span < 150 else (1, 3) if span < 500 else (1,)))
    axis.set_major_formatter(FuncFormatter(short))
    axis.set_minor_formatter(NullFormatter())


def style_of(index):
    return SERIES[index % len(SERIES)], MARKERS[index % len(MARKERS)]


def columns(names):
    return 3 if max(map(len, names), default=0) <= 32 else 2


def legend(figure, names, top=1.0):
    handles = [Line2D([], [], color=style_of(i)[0], marker=style_of(i)[1], linestyle="none", label=plain(name, 48))
               for i, name in enumerate(names)]
    figure.legend(handles=handles, loc="upper left", ncols=columns(names), bbox_to_anchor=(0, top), borderaxespad=0,
                  handletextpad=0.3)


def inches(lines, least=2.4, each=0.27):
    return max(least, each * lines + 1.1)


def panels_of(data, height, sharey=True):
    """A figure with one axes per panel, below a legend of the series."""
    names = [series["name"] for series in data["panels"][0]["series"]]
    legend_inches = 0.25 * -(-len(names) // columns(names)) + 0.25
    figure = Figure(figsize=(WIDTH_INCHES, height + legend_inches), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, height / (height + legend_inches)), wspace=0.04)
    axes = figure.subplots(1, len(data["panels"]), sharey=sharey, squeeze=False)[0]
    legend(figure, names)
    for axis, panel in zip(axes, data["panels"]):
        axis.set_title(plain(panel["title"]))
    return figure, list(zip(axes, data["panels"]))


def case_axis(axis, cases):
    axis.set_yticks(range(len(cases)), [plain(f"{i}   {case}", 66) for i, case in enumerate(cases, 1)], fontsize=9)
    axis.set_ylim(len(cases) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)


def dots(data, label, line, line_label):
    """One line per case, a dot with its interval per series."""
    cases = data["cases"]
    figure, panels = panels_of(data, inches(len(cases)))
    for axis, panel in panels:
        spread = len(panel["series"])
        everything = [line]
        for i, series in enumerate(panel["series"]):
            colour, marker = style_of(i)
            for place, middle, low, high in series["points"]:
                y = place + (i - (spread - 1) / 2) * min(0.16, 0.7 / spread)
                axis.plot([low, high], [y, y], color=colour, linewidth=1.6, solid_capstyle="butt")
                axis.plot([middle], [y], color=colour, marker=marker, markersize=4.5)
                everything += [middle, low, high]
        axis.set_xscale("log")
        log_axis(axis.xaxis, everything)
        axis.axvline(line, color=DIM, linewidth=1, linestyle=(0, (4, 3)))
        axis.set_xlabel(f"{label}; dashed: {line_label}")
        case_axis(axis, cases)
    return figure


def ranking(data):
    return dots(data, "times as fast as naive", 1, "naive")


def share(data):
    return dots(data, "share of the limit", 1, "the limit")


def roofline(data):
    figure, panels = panels_of(data, 4.2)
    for axis, panel in panels:
        points = [point for series in panel["series"] for point in series["points"]]
        least = min(point[0] for point in points) / 3 if points else 0.1
        most = max(point[0] for point in points) * 6 if points else 10
        ys = [point[1] for point in points]
        peak = data["f32"]
        for level in data["levels"]:
            bandwidth = level["gb_per_s"]
            end = min(peak / bandwidth, most) if peak > 0 else most
            if end > least:
                axis.plot([least, end], [least * bandwidth, end * bandwidth], color=DIM, linewidth=1)
                ys += [least * bandwidth, end * bandwidth]
        for name in ("f32", "f64"):
            if data[name] > 0:
                axis.axhline(data[name], color=DIM, linewidth=1.2, linestyle=(0, (4, 3)))
                axis.annotate(f"{name} multiply-add: {short(data[name])} GFLOP/s", (0, data[name]), xytext=(4, 3),
                              xycoords=("axes fraction", "data"), textcoords="offset points", color=DIM, fontsize=8.5)
                ys.append(data[name])
        for i, series in enumerate(panel["series"]):
            colour, marker = style_of(i)
            axis.plot([x for x, _ in series["points"]], [y for _, y in series["points"]], color=colour, marker=marker,
                      markersize=5, linestyle="none", alpha=0.85)
        axis.set_xscale("log")
        axis.set_yscale("log")
        log_axis(axis.xaxis, [least, most])
        log_axis(axis.yaxis, ys)
        axis.set_xlim(least, most)
        axis.set_xlabel("operations / byte that must move")
    panels[0][0].set_ylabel("GFLOP/s")
    if data["levels"]:
        levels = ", ".join(f"{level['name']} {short(level['gb_per_s'])}" for level in data["levels"])
        text = f"lines from above, up to that working set, {data['threads']} threads: {levels} GB/s"
        figure.supxlabel(plain(text, 160), fontsize=9, color=DIM)
    return figure


def error(data):
    figure, panels = panels_of(data, 3.2)
    for axis, panel in panels:
        xs = []
        for i, series in enumerate(panel["series"]):
            colour, marker = style_of(i)
            xs += [x for x, _ in series["points"]]
            axis.plot([x for x, _ in series["points"]], [y for _, y in series["points"]], color=colour, marker=marker,
                      markersize=5, linestyle="none", alpha=0.85)
        axis.axhline(1, color=DIM, linewidth=1, linestyle=(0, (4, 3)))
        axis.set_xscale("log")
        log_axis(axis.xaxis, xs)
        axis.set_ylim(bottom=-0.03)
        axis.set_xlabel("times as fast as naive")
    panels[0][0].set_ylabel("error / slack; dashed: the bound")
    return figure


def sweep(data):
    figure, panels = panels_of(data, 3.6)
    for axis, panel in panels:
        xs, ys = set(), []
        for i, series in enumerate(panel["series"]):
            colour, marker = style_of(i)
            points = sorted(series["points"])
            axis.plot([p[0] for p in points], [p[1] for p in points], color=colour, marker=marker, markersize=4.5,
                      linewidth=1.4)
            axis.vlines([p[0] for p in points], [p[2] for p in points], [p[3] for p in points], color=colour, alpha=0.5)
            xs.update(p[0] for p in points)
            ys += [p[1] for p in points]
        if min(xs, default=0) > 0:
            axis.set_xscale("log")
        axis.set_xticks(sorted(xs), [short(x) for x in sorted(xs)])
        axis.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        axis.set_yscale("log")
        log_axis(axis.yaxis, ys)
        axis.set_xlabel(plain(data["key"] or "case"))
    panels[0][0].set_ylabel("GB/s of bytes that must move" if data["unit"] == "GB/s" else "time, ns")
    return figure


PARTS = ("pack", "compute", "unpack", "rest")


def split(data):
    """Bars of one length, one per case and series, divided into what a call spends its time in."""
    names = [series["name"] for series in data["panels"][0]["series"]]
    bars = sorted({(point[0], i) for panel in data["panels"] for i, series in enumerate(panel["series"])
                   for point in series["points"]})
    labels = [f"{int(place) + 1}   {data['cases'][int(place)]}" + (f", {names[i]}" if len(names) > 1 else "")
              for place, i in bars]
    height = inches(len(bars), 1.6)
    figure, panels = panels_of({"panels": [{"series": [{"name": part} for part in PARTS], "title": panel["title"]}
                                           for panel in data["panels"]]}, height)
    for (axis, _), panel in zip(panels, data["panels"]):
        for i, series in enumerate(panel["series"]):
            for place, *parts in series["points"]:
                left, whole = 0, sum(parts)
                for k, part in enumerate(parts):
                    axis.barh(bars.index((place, i)), 100 * part / whole, left=left, height=0.66, color=style_of(k)[0])
                    left += 100 * part / whole
        axis.set_yticks(range(len(bars)), [plain(label, 66) for label in labels], fontsize=9)
        axis.set_ylim(len(bars) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0)
        axis.set_xlim(0, 100)
        axis.set_xlabel("% of a call" + (f" of {plain(names[0], 40)}" if len(names) == 1 else ""))
    return figure


def tuning(data):
    """Above, each configuration in the order of the search; below, the same by the value of each parameter."""
    parameters = [(i, parameter) for i, parameter in enumerate(data["parameters"]) if len(parameter["values"]) > 1]
    lines = -(-len(parameters) // 4)
    figure = Figure(figsize=(WIDTH_INCHES, 3.5 + 2.2 * lines), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.5 / (3.5 + 2.2 * lines)))
    grid = figure.add_gridspec(1 + lines, 4, height_ratios=[1.4] + [1] * lines)
    legend(figure, data["rows"])
    axis = figure.add_subplot(grid[0, :])
    searched = [point for point in data["points"] if point[4] == 0]
    for i in range(len(data["rows"])):
        colour, marker = style_of(i)
        for standard, size in ((0, 3.5), (1, 9)):
            chosen = [point for point in searched if point[1] == i and point[5] == standard]
            axis.plot([p[2] for p in chosen], [p[3] for p in chosen], color=colour, marker=marker, markersize=size,
                      linestyle="none", alpha=0.8, fillstyle="none" if standard else "full")
    for group in range(len(data["groups"])):
        best, steps, bests = float("inf"), [], []
        for point in sorted((p for p in searched if p[0] == group), key=lambda p: p[2]):
            best = min(best, point[3])
            steps.append(point[2])
            bests.append(best)
        axis.step(steps, bests, where="post", color=DIM, linewidth=1)
    axis.set_yscale("log")
    log_axis(axis.yaxis, [p[3] for p in searched])
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_xlabel("configuration, in the order of the search; line: best so far; large and hollow: the default")
    axis.set_ylabel("time / best")
    for k, (index, parameter) in enumerate(parameters):
        below = figure.add_subplot(grid[1 + k // 4, k % 4], sharey=axis)
        order = sorted(range(len(parameter["values"])), key=lambda v: number_or_text(parameter["values"][v]))
        place = {value: at for at, value in enumerate(order)}
        for i in range(len(data["rows"])):
            colour, marker = style_of(i)
            chosen = [point for point in searched if point[1] == i and point[6 + index] in place]
            below.plot([place[p[6 + index]] for p in chosen], [p[3] for p in chosen], color=colour, marker=marker,
                       markersize=3.5, linestyle="none", alpha=0.6)
        below.set_xticks(range(len(order)), [plain(parameter["values"][v], 10) for v in order], fontsize=8.5)
        below.set_xlim(-0.6, len(order) - 0.4)
        below.set_title(plain(parameter["name"], 28), fontsize=10)
    return figure


def number_or_text(value):
    try:
        return 0, float(value), ""
    except ValueError:
        return 1, 0.0, value


DRAW = {"ranking": ranking, "share": share, "roofline": roofline, "error": error, "sweep": sweep,
        "split": split, "tuning": tuning}


def svg_of(figure, salt):
    """The drawing as one element for a page: sizes by the page, its colours, and names of its own."""
    matplotlib.rcParams["svg.hashsalt"] = salt
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None,
                                                                  "Type": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg"):].strip()
    head, body = re.match(r"<svg[^>]*>", svg).group(), svg[svg.index(">") + 1:]
    box = re.search(r'viewBox="[-0-9. ]+"', head).group()
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', body))
    body = re.sub(r' id="([^"]*)"', lambda m: f' id="{salt}-{m[1]}"' if m[1] in used else "", body)
    body = re.sub(r'(url\(#|href="#)', rf"\1{salt}-", body)
    body = re.sub(r"#0102[01][0-9a-f]", lambda m: NAMES.get(m[0], m[0]), body)
    body = re.sub(r"font: ([0-9.]+)px[^;\"]*", r"font-size: \1px", body)
    body = re.sub(r"font: (bold|[0-9]+) ([0-9.]+)px[^;\"]*", r"font-weight: bold; font-size: \2px", body)
    return f'<svg {box} aria-hidden="true">{body}'


def draw(index, data):
    if data["kind"] not in DRAW:
        return {"missing": f"plot.py does not know the figure {data['kind']}"}
    try:
        return {"svg": svg_of(DRAW[data["kind"]](data), f"f{index}")}
    except Exception as fault:  # one figure that fails costs no other
        return {"missing": f"plot.py failed: {type(fault).__name__}: {fault}"[:200]}


def main():
    configure()
    figures = json.load(sys.stdin)["figures"]
    json.dump({"figures": [draw(index, data) for index, data in enumerate(figures)]}, sys.stdout)


if __name__ == "__main__":
    main()
