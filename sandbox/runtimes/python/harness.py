"""The parts of run_program.c that are easier in Python, and what the zygote prepares for them.

The code that runs between the arrival of a job and its end is small on purpose and imports nothing.
The learner has run it before, so that workers have its pages already.
"""

import sys

# Modules that an interpreter has before the first line of a script, so that no file can replace them.
AT_START = frozenset(sys.modules) | frozenset(sys.builtin_module_names)

import _ced
import _thread
import atexit
import builtins
import display
import gc
import importlib.machinery
import io
import itertools
import os
import signal
import stat
import time
import tools
from _contextvars import copy_context
from gc import collect, get_objects
from json.encoder import encode_basestring_ascii as quoted

WORK = "/work"
SETS = "/sets"
PLAIN = "main.py"  # the name of a program that has none
MESSAGE_MAX = 8192  # characters of a message or a line in a report
NAME_MAX = 256
FRAMES_MAX = 50
REPORT_MAX = 256 << 10

real = {"before": [], "after": []}  # state that the program must not replace


# ---- in the zygote -----------------------------------------------------------------------------


def prepare_zygote(steady):
    """Does everything that can be done before the first fork."""
    real["seed"] = (0,) if steady else ()
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "rehearsal.py"), "rb") as file:
        source = file.read()
    for name in [name for name in os.environ if name.startswith("CED_")]:
        del os.environ[name]
    sys.path[:] = [WORK] + [path for path in sys.path if path != folder]
    sys.path_importer_cache.pop(folder, None)
    for name in "_ced", "display", "harness", "libraries", "samples", "tools":
        sys.modules.pop(name, None)
    real["rehearsal"] = source, "rehearsal.py", ["argument"], ["NAME=value"], None, 0, 0
    real["modules"] = frozenset(sys.modules)
    real["parts"] = (ahead, prepare, judge, forget, compile, atexit._run_exitfuncs, copy_context, wake, use_packages,
                     tools.offer)
    real["parts"] += display.PARTS + (tools.rest, cell)
    open_streams()
    rehearse()


def serve(samples, version):
    """Does not return: the rest happens in C."""
    _ced.serve(real["parts"], samples, version)


def rehearse():
    """Runs a program that resembles jobs, with its output to /dev/null."""
    kept = [os.dup(fd) for fd in (1, 2)]
    for fd in 1, 2:
        os.dup2(0, fd)
    _ced.rehearse(real["parts"], real["rehearsal"])
    sys.stdout.flush()
    for fd in 1, 2:
        os.dup2(kept[fd - 1], fd)
        os.close(kept[fd - 1])
    del os.environ["NAME"]


# ---- streams -----------------------------------------------------------------------------------


def open_stdin():
    """Makes sys.stdin as the interpreter does at its start, for the current descriptor 0."""
    like = real["stdin"]
    buffer = io.open(0, "rb", -1, None, None, None, False)
    buffer.raw.name = "<stdin>"
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(buffer, like.encoding, like.errors, "\n")
    sys.stdin.mode = "r"


def output(fd, name, like):
    """A stream that writes in time (streams.h)."""
    raw = io.open(fd, "wb", 0, None, None, None, False)
    raw.name = name
    text = _ced.open_stream(fd, raw, like.encoding, like.errors)
    text.mode = "w"
    return text


def open_streams():
    """
    Makes the program's streams, in the zygote.  A stream looks at its descriptor only when it is
    made, so for a moment the descriptors are pipes, as they will be in workers, or stdin is a file.
    """
    kept = [os.dup(fd) for fd in range(3)]
    ends = os.pipe()
    for fd in range(3):
        os.dup2(ends[fd > 0], fd)
    sys.stdout = sys.__stdout__ = output(1, "<stdout>", sys.__stdout__)
    sys.stderr = sys.__stderr__ = output(2, "<stderr>", sys.__stderr__)
    real["stdin"] = sys.__stdin__
    open_stdin()
    real["stdin of a pipe"] = sys.stdin
    with open(__file__, "rb") as file:
        os.dup2(file.fileno(), 0)
    open_stdin()
    real["stdin of a file"] = sys.stdin
    for fd in range(3):
        os.dup2(kept[fd], fd)
    for fd in kept + list(ends):
        os.close(fd)
    open_stdin()


def take_stdin(kind):
    """`kind` is the kind of file that stdin is now, as in st_mode; None: /dev/null."""
    if kind == stat.S_IFREG:
        sys.stdin = sys.__stdin__ = real["stdin of a file"]
    elif kind == stat.S_IFIFO:
        sys.stdin = sys.__stdin__ = real["stdin of a pipe"]
    elif kind is not None:
        open_stdin()


# ---- forks -------------------------------------------------------------------------------------


def keep_hooks(before=None, after_in_child=None, after_in_parent=None):
    """Hooks for wake(), in the order in which the interpreter would call them."""
    if before is not None:
        real["before"].insert(0, before)
    if after_in_child is not None:
        real["after"].append(after_in_child)


def wake():
    """The last steps in Python before a worker is warm."""
    for hook in real["before"] + real["after"]:
        hook()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(*real["seed"])
    if real["seed"]:
        sys.modules["random"].seed(*real["seed"])
    threading = sys.modules.get("threading")
    if hasattr(getattr(threading, "_main_thread", None), "_set_native_id"):
        threading._main_thread._set_native_id()
    gc.enable()


# ---- before the program ------------------------------------------------------------------------


def set_environment(entries):
    for entry in entries:
        key, _, value = entry.partition("=")
        os.environ[key] = value
        if key == "TZ":
            time.tzset()


# Variables that numeric libraries read when they are imported.
POOLS = "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"


def use_processors(count):
    """Numeric libraries use as many threads as the job has processors."""
    for name in POOLS:
        os.environ[name] = str(count)
    _ced.use_processors(count)


def make_room(names):
    """Removes modules that we have imported and that a file of the job replaces."""
    for name in names:
        name = name.partition(".")[0]
        if name in real["modules"] and name not in AT_START:
            for module in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
                del sys.modules[module]


def use_packages(names):
    """
    Package sets come behind the job's folder.  They are no site directories, so nobody reads their
    files *.pth.  A module that we have imported gives way to that of a set.
    """
    folders = [SETS + "/" + name for name in names]
    sys.path[1:1] = folders
    for folder in folders:
        make_room(os.listdir(folder))


def new_main():
    """A __main__ module as a script has it, except for its path."""
    main = type(sys)("__main__")
    main.__dict__.update(
        __annotations__={},
        __builtins__=builtins,
        __cached__=None,
        __file__="",
        __loader__=importlib.machinery.SourceFileLoader("__main__", ""),
        __package__=None,
        __spec__=None,
    )
    return main


def ahead():
    """
    Prepares everything for a plain program, one without arguments or files, in the zygote.  This
    comes after gc.freeze(): a frozen scope would never be collected, and no __del__ would run.
    """
    scope = prepare(PLAIN, [], [], None, 0, 0)
    real["main"] = sys.modules["__main__"]  # prepare() uses it for other programs, too
    return scope


def prepare(name, args, env, kind, file_count, processors):
    take_stdin(kind)
    if processors:
        use_processors(processors)
    set_environment(env)
    make_room(os.listdir(WORK) if file_count else (name,))
    sys.argv = [name] + args
    sys.orig_argv = [sys.executable] + sys.argv
    sys.modules["__main__"] = main = real.pop("main", None) or new_main()
    main.__file__ = main.__loader__.path = WORK + "/" + name
    return main.__dict__


# ---- sessions ----------------------------------------------------------------------------------


def take_cell_stdin(is_given):
    """Cells without a stdin share one, which takes long to make, until one of them closes or replaces it."""
    empty = real.get("empty stdin")
    if is_given or empty is None or not (sys.stdin is sys.__stdin__ is empty) or is_closed(empty):
        open_stdin()
        real["empty stdin"] = None if is_given else sys.stdin


def is_closed(stream):
    try:
        return stream.closed
    except ValueError:  # detached
        return True


def cell(name, source, args, has_stdin):
    """The globals of a session, for its next cell.  Without `args`: its first, which is prepared."""
    if args is None:
        real["session"] = sys.modules["__main__"]
        sys.excepthook = show_exception
        _thread._excepthook = show_exception_in_thread  # threading takes it from there when it is imported
        if "threading" in sys.modules:
            sys.modules["threading"].excepthook = show_exception_in_thread
    else:
        take_cell_stdin(has_stdin)
        sys.argv = [name] + args
    main = real["session"]
    main.__file__ = WORK + "/" + name
    remember_lines(main.__file__, source)
    return main.__dict__


def remember_lines(path, source):
    """A cell is no file, so tracebacks and inspect.getsource() find its lines here."""
    import linecache

    lines = source.decode("utf-8", "replace").splitlines(True)
    linecache.cache[path] = len(source), None, lines, path


def show_exception(kind, error, traceback):
    """As the interpreter does, which would look for the lines in a file."""
    import traceback as printer

    printer.print_exception(kind, error, traceback)


def show_exception_in_thread(failed):
    """The same for threading.excepthook."""
    stream = sys.stderr if sys.stderr is not None else getattr(failed.thread, "_stderr", None)
    if failed.exc_type is SystemExit or stream is None:
        return
    name = failed.thread.name if failed.thread is not None else _thread.get_ident()
    print(f"Exception in thread {name}:", file=stream)
    import traceback as printer

    printer.print_exception(*failed[:3], file=stream)
    stream.flush()


# ---- after the program -------------------------------------------------------------------------


def exit_code_of(error):
    """The exit code that the interpreter makes of a SystemExit."""
    code = getattr(error, "code", error)
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    for text in code, "\n":
        try:
            sys.stderr.write(str(text))
        except BaseException:
            pass
    return 1


def judge(error, path, source, is_syntax):
    """(exit code, report): the code is negative for a signal; no report for an ordinary exit."""
    if isinstance(error, SystemExit) and not is_syntax:
        return exit_code_of(error), None
    code = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    try:
        return code, report(error, path, source, is_syntax)
    except BaseException:
        return code, b'{"type":"","message":"","line":0,"column":0,"frames":[],"text":"","syntax":false}'


def forget():
    """Drops the program's modules and the last exception, so that __del__ runs."""
    for name in "last_type", "last_value", "last_traceback", "last_exc":
        sys.__dict__.pop(name, None)
    sys.modules.pop("__main__", None)
    real.pop("main", None)
    for name in new_modules():
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(WORK + "/"):
            del sys.modules[name]
    # A full collection is expensive, and few programs have objects in the oldest generation.
    collect(2 if get_objects(2) else 1)


def new_modules():
    """Names of modules imported since the zygote.  They are the last ones, so others are not touched."""
    known = real["modules"]
    names = []
    for name in reversed(sys.modules):
        if name in known:
            break
        names.append(name)
    return names


# ---- reports -----------------------------------------------------------------------------------


def safe_text(make, value, most):
    """`value` as a JSON string, even if the program's own methods fail."""
    try:
        text = make(value)
        if len(text) > most:
            text = text[:most] + "..."
        return quoted(text.encode("utf-8", "backslashreplace").decode())
    except BaseException:
        return '"<no text>"'


def type_name(value):
    kind = type(value)
    if kind.__module__ in ("builtins", "__main__"):
        return kind.__qualname__
    return kind.__module__ + "." + kind.__qualname__


def column_of(traceback):
    """The byte where the failing expression begins, from Python 3.11 on; -1: unknown."""
    index = traceback.tb_lasti // 2
    positions = getattr(traceback.tb_frame.f_code, "co_positions", None)
    if positions is None or not 0 <= index < 100000:
        return -1
    place = next(itertools.islice(positions(), index, None), None)
    return -1 if not place or place[2] is None else place[2]


def frames_of(traceback):
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    return frames


def json_of_frame(traceback):
    code = traceback.tb_frame.f_code
    return '{"file":%s,"line":%d,"name":%s}' % (
        safe_text(str, code.co_filename, NAME_MAX),
        traceback.tb_lineno or 0,
        safe_text(str, code.co_name, NAME_MAX),
    )


def line_of(source, number):
    lines = source.split(b"\n", number)
    return lines[number - 1].rstrip(b"\r") if 0 < number <= len(lines) else b""


def place_of(frames, path, source):
    """(file, line, column, text) of the program's last frame; no file: the program itself.

    Columns count characters from 1."""
    for frame in reversed(frames):
        filename = frame.tb_frame.f_code.co_filename
        if filename == path or filename.startswith(WORK + "/"):
            break
    else:
        return "", 0, 0, ""
    file = "" if filename == path else filename[len(WORK) + 1 :]
    text = b"" if file else line_of(source, frame.tb_lineno or 0)
    column = column_of(frame)
    column = len(text[:column].decode("utf-8", "replace")) + 1 if column >= 0 and text else 0
    return file, frame.tb_lineno or 0, column, text.decode("utf-8", "replace")


def place_of_syntax(error):
    return (
        error.lineno if isinstance(error.lineno, int) else 0,
        error.offset if isinstance(error.offset, int) else 0,
        error.text.rstrip("\n") if isinstance(error.text, str) else "",
    )


def report(error, path, source, is_syntax):
    """The body of JOB_ERROR."""
    if is_syntax and isinstance(error, SyntaxError):
        frames = []
        file = ""
        line, column, text = place_of_syntax(error)
        message = error.msg
    else:
        frames = frames_of(error.__traceback__)
        file, line, column, text = place_of(frames, path, source)
        message = error
    for most in FRAMES_MAX, 4, 0:
        if len(frames) > most:
            frames[most // 2 : len(frames) - most // 2] = []
        body = '{"type":%s,"message":%s,%s"line":%d,"column":%d,"frames":[%s],"text":%s,"syntax":%s}' % (
            safe_text(type_name, error, NAME_MAX),
            safe_text(str, message, MESSAGE_MAX),
            '"file":%s,' % safe_text(str, file, NAME_MAX) if file else "",
            line,
            column,
            ",".join(map(json_of_frame, frames)),
            safe_text(str, text, MESSAGE_MAX),
            "true" if is_syntax else "false",
        )
        if len(body) <= REPORT_MAX:
            break
    return body.encode()
