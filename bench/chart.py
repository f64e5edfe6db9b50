"""An SVG: for each set a panel, with a bar to each way's p50 and a whisker on to its p99."""

from xml.sax.saxutils import escape

WIDTH, LABEL, ROW, TITLE = 800, 180, 24, 44
COLOURS = {"interpreter": "#8a8f98", "jail": "#c2a05a", "warm": "#9bb7d4", "daemon": "#2f6fab"}


def text(x, y, what, size=12, anchor="start"):
    place = f'x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}"'
    return f"<text {place}>{escape(what)}</text>"


def line(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#222"/>'


def bar(y, name, way, scale):
    middle = y + ROW / 2 - 2
    p50, p99 = LABEL + way["p50"] * scale, LABEL + way["p99"] * scale
    colour = COLOURS[way["kind"]]
    return [
        text(LABEL - 8, middle + 4, name, anchor="end"),
        f'<rect x="{LABEL}" y="{y}" width="{p50 - LABEL:.1f}" height="{ROW - 6}" fill="{colour}"/>',
        line(p50, middle, p99, middle),
        line(p99, middle - 5, p99, middle + 5),
        text(p99 + 6, middle + 4, f"{way['p50']:.2f} ms"),
    ]


def panel(y, name, measured):
    longest = max(way["p99"] for way in measured["ways"].values())
    scale = (WIDTH - LABEL - 90) / longest
    drawn = [text(8, y + TITLE - 12, f"{name}: {measured['what']}; bars p50, whiskers p99", 14)]
    for place, (way, row) in enumerate(measured["ways"].items()):
        drawn += bar(y + TITLE + place * ROW, way, row, scale)
    return drawn, TITLE + len(measured["ways"]) * ROW


def svg_of(result):
    y, drawn = 0, []
    for name, measured in result["sets"].items():
        more, height = panel(y, name, measured)
        drawn += more
        y += height
    height = y + 12
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        *drawn,
        "</svg>\n",
    ])
