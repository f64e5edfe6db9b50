import contextlib
import io


@contextlib.contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name.upper()
    except KeyError as error:
        print("swallowed", error)
    finally:
        print(f"</{name}>")


with tag("a") as a, tag("b"):
    print(a)
    raise KeyError("k")
with contextlib.ExitStack() as stack:
    for name in "xyz":
        stack.enter_context(tag(name))
    stack.callback(print, "callback")
with contextlib.suppress(FileNotFoundError):
    open("missing")
buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print("captured")
print(repr(buffer.getvalue()))
with contextlib.closing(io.StringIO()) as thing:
    pass
print(thing.closed)


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        print("exit", kind.__name__, value)
        return False


with Manager():
    raise RuntimeError("passes through")
