"""What a program displays: the value of its last expression, display(), and figures of matplotlib.

One Display serves a run, or one cell of a session: it is opened with the pipe that the daemon reads.
run_program.c calls split() instead of compiling the program, start() before it, drive() if it
awaits, show_main() with its last value, and finish_run() at its end, or rest() after a cell.  What
is displayed in a cell that does not display goes nowhere.

Plain runs use nothing of this.  proto/job/job_display.h has the format and its bounds.
"""

import _ast
import _thread
import builtins
import io
import os
import sys
from importlib.machinery import ModuleSpec
from json import dumps, loads
from struct import pack

TEXT_MOST = 1 << 20  # characters of a repr()
JSON_MOST = 4 << 20  # of a JSON text that an object makes of itself
PLAIN_MOST = 256 << 10  # ... that is made of a list, a dict or a figure
POINTS_MOST = 10000  # of a figure
ROWS_MOST = 1000  # of a table
TYPES_MOST = 16
TYPE_MOST = 127
DEPTH_MOST = 13  # of a JSON value: the item and its data are around it
NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-")
TABLE = "application/vnd.ced.table+json"
CHART = "application/vnd.ced.chart+json"

METHODS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("text/latex", "_repr_latex_"),
    ("application/json", "_repr_json_"),
    ("application/pdf", "_repr_pdf_"),
)


# ---- the program, in two parts -----------------------------------------------------------------

ONLY_TREE, TOP_LEVEL_AWAIT = 0x400, 0x2000  # flags of compile()
FUTURES = 0x1FE0000  # flags of a code object that compile() takes, too: from __future__ import
COROUTINE = 0x80


def is_silenced(source, statement):
    """Whether a semicolon follows the statement."""
    lines = source.removeprefix(b"\xef\xbb\xbf").splitlines()[statement.end_lineno - 1 :]
    if lines:
        lines[0] = lines[0][statement.end_col_offset :]
    return b" ".join(lines).lstrip(b" \t\f\\").startswith(b";")


def split(source, path):
    """(code, code of the last expression or None, whether one of them awaits)."""
    tree = compile(source, path, "exec", ONLY_TREE | TOP_LEVEL_AWAIT, True)
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
    if last is not None and is_silenced(source, last):
        last = None
    if last is not None:
        tree.body.pop()
    body = compile(tree, path, "exec", TOP_LEVEL_AWAIT, True)
    if last is None:
        return body, None, body.co_flags & COROUTINE
    flags = TOP_LEVEL_AWAIT | (body.co_flags & FUTURES)
    value = compile(_ast.Expression(last.value), path, "eval", flags, True)
    return body, value, (body.co_flags | value.co_flags) & COROUTINE


# ---- msgpack -----------------------------------------------------------------------------------


def put_head(parts, count, fix, fix_most, forms):
    """`forms`: a byte and a struct format for each width, in ascending order."""
    if count <= fix_most:
        parts.append(bytes((fix | count,)))
        return
    for most, lead, form in forms:
        if count <= most:
            parts.append(pack(form, lead, count))
            return


STR = (0xFF, 0xD9, ">BB"), (0xFFFF, 0xDA, ">BH"), (0xFFFFFFFF, 0xDB, ">BI")
BIN = (0xFF, 0xC4, ">BB"), (0xFFFF, 0xC5, ">BH"), (0xFFFFFFFF, 0xC6, ">BI")
LIST = (0xFFFF, 0xDC, ">BH"), (0xFFFFFFFF, 0xDD, ">BI")
MAP = (0xFFFF, 0xDE, ">BH"), (0xFFFFFFFF, 0xDF, ">BI")


def put_int(parts, number):
    if 0 <= number < 128:
        parts.append(bytes((number,)))
    elif number < 0:
        parts.append(pack(">Bq", 0xD3, number))
    else:
        parts.append(pack(">BQ", 0xCF, number))


def put(parts, value):
    kind = type(value)
    if value is None:
        parts.append(b"\xc0")
    elif kind is bool:
        parts.append(b"\xc3" if value else b"\xc2")
    elif kind is int:
        put_int(parts, value)
    elif kind is float:
        parts.append(pack(">Bd", 0xCB, value))
    elif kind is str:
        text = value.encode("utf-8", "replace")
        put_head(parts, len(text), 0xA0, 31, STR)
        parts.append(text)
    elif kind is bytes:
        put_head(parts, len(value), 0, -1, BIN)
        parts.append(value)
    elif kind is list:
        put_head(parts, len(value), 0x90, 15, LIST)
        for item in value:
            put(parts, item)
    else:
        put_head(parts, len(value), 0x80, 15, MAP)
        for key, item in value.items():
            put(parts, key)
            put(parts, item)


# ---- values in media types ---------------------------------------------------------------------


def is_json(name):
    return name == "application/json" or name.endswith("+json")


def is_type(name):
    if type(name) is not str or len(name) > TYPE_MOST:
        return False
    parts = name.split("/")
    return len(parts) == 2 and all(part and part[0] != "." and NAME.issuperset(part) for part in parts)


def fits(value, depth):
    """Whether a JSON value can be sent."""
    if type(value) is int:
        return -(1 << 63) <= value < 1 << 64
    if type(value) is list:
        return depth > 0 and all(fits(item, depth - 1) for item in value)
    if type(value) is dict:
        return depth > 0 and all(fits(item, depth - 1) for item in value.values())
    return True


def as_json(value, most):
    """The value as JSON has it: only what json.loads() returns.  Raises if it has no such form."""
    text = dumps(value, allow_nan=False)
    made = loads(text) if len(text) <= most else None
    if made is None and value is not None or not fits(made, DEPTH_MOST):
        raise ValueError("too large for JSON")
    return made


def put_type(data, name, content):
    """Adds a type that a program made, if it can be sent."""
    if not is_type(name) or data.get(name) is not None or len(data) == TYPES_MOST and name not in data:
        return
    if isinstance(content, tuple) and content:
        content = content[0]  # with metadata, as IPython has it
    if content is None:
        return
    if is_json(name):
        data[name] = as_json(content, JSON_MOST)
    elif isinstance(content, str):
        data[name] = str(content)
    elif isinstance(content, (bytes, bytearray, memoryview)):
        data[name] = bytes(content)


def text_of(value):
    try:
        return str(repr(value)[:TEXT_MOST])
    except Exception as error:
        return "<repr failed: %s>" % type(error).__name__


def put_bundle(data, value):
    made = type(value)._repr_mimebundle_(value, include=None, exclude=None)
    if isinstance(made, tuple):
        made = made[0]
    for name, content in (made or {}).items():
        quietly(put_type, data, name, content)


def put_table(data, value):
    rows = loads(value.head(ROWS_MOST).to_json(orient="values", date_format="iso"))
    table = {"columns": [str(name) for name in value.columns], "rows": rows, "total": len(value)}
    put_type(data, TABLE, table)


def quietly(call, *args):
    """A representation that fails is left out."""
    try:
        return call(*args)
    except Exception:
        return None


def is_of(value, module, name):
    """Whether it is an instance of a class of a module that the program may not have imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def png_of(figure):
    png = io.BytesIO()
    figure.savefig(png, format="png", bbox_inches="tight")
    return png.getvalue()


# ---- the data of a figure ----------------------------------------------------------------------


def plain(value):
    """A value of an axis as JSON has it: a number, a text, a moment as ISO 8601, or None for NaN."""
    if getattr(getattr(value, "dtype", None), "kind", "") == "M":
        return str(value)
    value = value.item() if hasattr(value, "item") else value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, float):
        return value if value - value == 0 else None
    return value if isinstance(value, (int, str)) else str(value)


def label_of(artist):
    label = str(artist.get_label())
    return None if label.startswith("_") else label


def points_of(xs, ys):
    return [[plain(x), plain(y)] for x, y in zip(xs, ys)]


def lines_of(axes, lines):
    return [{"label": label_of(line), "points": points_of(line.get_xdata(), line.get_ydata())} for line in lines]


def scatters_of(axes, paths):
    return [{"label": label_of(path), "points": points_of(*zip(*path.get_offsets()))} for path in paths]


def bars_of(axes, bars):
    """Of each bar the name of the tick below it, or else its place; the group is what was drawn at once."""
    elements = []
    for container in axes.containers:
        lies = getattr(container, "orientation", None) == "horizontal"
        ticks = axes.yaxis if lies else axes.xaxis
        names = {}
        if not is_of(ticks.get_major_formatter(), "matplotlib.ticker", "ScalarFormatter"):
            names = {round(float(at), 9): text.get_text() for at, text in zip(ticks.get_ticklocs(), ticks.get_ticklabels())}
        for bar in container.patches:
            at = bar.get_y() + bar.get_height() / 2 if lies else bar.get_x() + bar.get_width() / 2
            elements.append({"label": names.get(round(float(at), 9)) or plain(at), "group": label_of(container),
                             "value": plain(bar.get_width() if lies else bar.get_height())})
    return elements


def wedges_of(axes, wedges):
    return [{"label": label_of(wedge), "angle": plain(abs(wedge.theta2 - wedge.theta1)), "radius": plain(wedge.r)}
            for wedge in wedges]


CHARTS = (
    ("line", "matplotlib.lines", "Line2D", lines_of),
    ("scatter", "matplotlib.collections", "PathCollection", scatters_of),
    ("pie", "matplotlib.patches", "Wedge", wedges_of),
    ("bar", "matplotlib.patches", "Rectangle", bars_of),
)


def axis_of(name, axis):
    return {f"{name}_label": axis.get_label_text() or None, f"{name}_scale": axis.get_scale(),
            f"{name}_ticks": [plain(at) for at in axis.get_ticklocs()],
            f"{name}_tick_labels": [text.get_text() for text in axis.get_ticklabels()]}


def chart_of(axes):
    """What is drawn, if all of it is of one kind; lines may cross bars and points."""
    drawn = [each for each in (*axes.lines, *axes.collections, *axes.patches, *axes.images) if each.get_visible()]
    chart = {"type": "unknown", "title": axes.get_title() or None, "elements": []}
    for kind, module, name, elements_of in CHARTS:
        own = [each for each in drawn if is_of(each, module, name)]
        rest = [each for each in drawn if each not in own and not is_of(each, "matplotlib.lines", "Line2D")]
        if own and not rest:
            chart.update(type=kind, elements=elements_of(axes, own))
            break
    if chart["type"] != "pie":
        chart.update(axis_of("x", axes.xaxis), **axis_of("y", axes.yaxis))
    return chart


def count_points(axes):
    return (sum(len(line.get_xdata()) for line in axes.lines) + len(axes.patches)
            + sum(len(points.get_offsets()) for points in axes.collections))


def put_chart(data, figure):
    """A figure with several axes is a chart of charts."""
    if sum(count_points(axes) for axes in figure.axes) > POINTS_MOST:
        return
    charts = [chart_of(axes) for axes in figure.axes if axes.axison or axes.patches]
    if len(charts) > 1:
        title = figure._suptitle.get_text() if figure._suptitle else None
        charts = [{"type": "superchart", "title": title, "elements": charts}]
    if charts:
        data[CHART] = as_json(charts[0], PLAIN_MOST)


# ---- the forms of a value ----------------------------------------------------------------------


def types_of(value):
    """{media type: content} of any value, with text/plain."""
    data = {"text/plain": None}
    kind = type(value)
    if hasattr(kind, "_repr_mimebundle_"):
        quietly(put_bundle, data, value)
    if data["text/plain"] is None:
        data["text/plain"] = text_of(value)
    for name, method in METHODS:
        make = getattr(kind, method, None)
        if make is not None and name not in data:
            quietly(lambda: put_type(data, name, make(value)))
    if is_of(value, "matplotlib.figure", "Figure"):
        quietly(lambda: put_type(data, "image/png", png_of(value)))
        quietly(put_chart, data, value)
    if is_of(value, "pandas", "DataFrame"):
        quietly(put_table, data, value)
    if kind in (dict, list) and "application/json" not in data:
        quietly(lambda: data.update({"application/json": as_json(value, PLAIN_MOST)}))
    return data


# ---- the display -------------------------------------------------------------------------------


class Display:
    def __init__(self, fd):
        self.fd = fd
        self.pid = os.getpid()
        self.lock = _thread.allocate_lock()
        self.shown = []  # figures

    def send(self, data, is_main=False):
        """One item.  A child of a fork sends nothing, since its item could end inside another."""
        if self.fd is None or os.getpid() != self.pid:
            return
        parts = []
        put(parts, {"main": is_main, "data": data})
        rest = memoryview(b"".join(parts))
        with self.lock:
            while rest and self.fd is not None:
                try:
                    rest = rest[os.write(self.fd, rest) :]
                except OSError:
                    return  # nobody reads any more

    def close(self):
        """Nothing is displayed any more.  Another thread may be in the middle of an item."""
        with self.lock:
            fd, self.fd = self.fd, None
        os.close(fd)

    def show(self, value, is_main=False):
        if is_of(value, "matplotlib.figure", "Figure"):
            self.shown.append(value)
        self.send(types_of(value), is_main)

    def show_figures(self):
        """Every open figure that was not shown, in the order of their numbers; closes all."""
        helpers = sys.modules.get("matplotlib._pylab_helpers")
        managers = helpers.Gcf.get_all_fig_managers() if helpers else ()
        if not managers or os.getpid() != self.pid:
            return
        try:
            for manager in managers:
                figure = manager.canvas.figure
                if not any(figure is shown for shown in self.shown):
                    data = {"image/png": png_of(figure), "text/plain": text_of(figure)}
                    quietly(put_chart, data, figure)
                    self.send(data)
        finally:
            self.shown.clear()
            helpers.Gcf.destroy_all()


current = None  # the Display of this run, or of this cell
loop = None  # of asyncio, from the first await on


def display(*values):
    """Displays each value in all the forms that it has."""
    for value in values:
        current.show(value)


def mime(types):
    """Displays one thing in the given media types: {"text/html": "<b>…</b>", "image/png": b"…"}."""
    data = {}
    for name, content in dict(types).items():
        if not is_type(name):
            raise ValueError("not a media type: %r" % (name,))
        before = len(data)
        put_type(data, name, content)
        if len(data) == before:
            raise ValueError("no content of %s, or more than %d types" % (name, TYPES_MOST))
    if not data:
        raise ValueError("no media type")
    current.send(data)


display.mime = mime


class Inline:
    """Finds the backend of matplotlib (ced_inline.py), which lies in no folder of sys.path."""

    def __init__(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ced_inline.py")
        with open(path, "rb") as file:
            self.code = compile(file.read(), path, "exec")

    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name == "ced_inline" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.show_figures = lambda: current.show_figures()
        exec(self.code, module.__dict__)


INLINE = Inline()
BACKEND = "module://ced_inline"


def use_backend():
    """Unless the environment of the job names another one."""
    if os.environ.get("MPLBACKEND", "Agg") not in ("Agg", BACKEND):
        return
    os.environ["MPLBACKEND"] = BACKEND
    sys.meta_path.append(INLINE)
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:  # the zygote has imported it, with another backend
        pyplot.switch_backend(BACKEND)


def start(fd):
    """Before the program, or before a cell: from here on everything goes to this descriptor."""
    global current
    is_first = current is None
    current = Display(fd)
    if is_first:
        builtins.display = display
        quietly(use_backend)


async def perform(codes, scope):
    value = None
    for code in codes:
        value = eval(code, scope)
        if code.co_flags & COROUTINE:
            value = await value
    return value


def drive(body, last, scope):
    """
    Runs a program that awaits, all of it within one loop.  (value of its last expression, None), or
    (None, exception).
    """
    global loop
    import asyncio

    if loop is None or loop.is_closed():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
    codes = (body,) if last is None else (body, last)
    try:
        value = loop.run_until_complete(perform(codes, scope))
        return (None if last is None else value), None
    except BaseException as error:
        return None, without_loop(error, codes)


def without_loop(error, codes):
    """A traceback that begins with the program, and not with the loop that called it."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code not in codes:
        place = place.tb_next
    return error.with_traceback(place or error.__traceback__)


def show_main(value):
    if value is not None:
        current.show(value, True)


def end_loop():
    """As asyncio.run() ends: tasks that are left are cancelled."""
    global loop
    ended, loop = loop, None
    if ended is None or ended.is_closed() or ended.is_running():
        return
    import asyncio

    tasks = asyncio.all_tasks(ended)
    for task in tasks:
        task.cancel()
    if tasks:
        ended.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    ended.run_until_complete(ended.shutdown_asyncgens())
    asyncio.set_event_loop(None)
    ended.close()


def finish():
    """After the program or a cell: figures that are still open."""
    current.show_figures()


def finish_run():
    try:
        end_loop()
    finally:
        finish()


def rest():
    """After a cell, whose loop goes on with the next one."""
    try:
        finish()
    finally:
        current.close()


PARTS = split, start, drive, show_main, finish_run, rest
