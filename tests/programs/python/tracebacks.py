import sys
import traceback


class Custom(Exception):
    def __str__(self):
        return "custom text\nof two lines"


def low(x):
    return 10 // x


def middle(x):
    try:
        return low(x)
    except ZeroDivisionError as error:
        raise Custom from error


try:
    middle(0)
except Custom:
    traceback.print_exc(file=sys.stdout)
    print([(f.name, f.lineno, f.line) for f in traceback.extract_tb(sys.exc_info()[2])])
traceback.print_stack(file=sys.stdout)
print(traceback.format_exception_only(KeyError, KeyError("k")))


def deep(n):
    return deep(n - 1) if n else low(0)


try:
    deep(5)
except ZeroDivisionError as error:
    error.add_note("a note") if hasattr(error, "add_note") else None
    print("".join(traceback.format_exception(error)))
[middle(x) for x in (1, 0)]
