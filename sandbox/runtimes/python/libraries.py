"""What well-known libraries do at their first use, done once in the zygote.

Without it each program would look for fonts, choose a backend and fill caches anew.
"""

import io
import os
import sys


def before(names):
    """Sets variables that libraries read when they are imported."""
    if any(name.partition(".")[0] == "matplotlib" for name in names):
        os.environ.setdefault("MPLBACKEND", "Agg")  # else the first plot tries all backends


def draw():
    """Draws a plot, which finds and reads fonts and starts the renderer and the PNG writer."""
    from matplotlib import font_manager, pyplot

    figure, axes = pyplot.subplots()
    axes.plot([1, 2, 3], [1.5, 0.5, 2.5], label="line")
    axes.bar([1, 2], [0.5, 1])
    axes.set(title="Title", xlabel="x", ylabel="y")
    axes.legend()
    figure.savefig(io.BytesIO(), format="png")
    pyplot.close(figure)
    font_manager._get_font.cache_clear()  # it has open files, which no worker inherits


def tabulate():
    import pandas

    table = pandas.DataFrame({"key": ["a", "b", "a"], "value": [1.0, 2.0, 3.0]})
    str(table), str(table.groupby("key").mean()), str(table.describe())


WARM = {"matplotlib.pyplot": draw, "pandas": tabulate}


def after():
    for name, warm in WARM.items():
        try:
            if name in sys.modules:
                warm()
        except Exception as error:
            print(f'<4>ced-zygote warm.failed module="{name}" error="{error!r}"', file=sys.stderr)
    threading = sys.modules.get("threading")
    for thread in threading.enumerate() if threading else ():
        if isinstance(thread, threading.Timer):  # it was cancelled
            thread.join(1)
