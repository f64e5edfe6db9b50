# inside: before
import os
import sys

print("before", flush=True)
try:
    pid = os.fork()
except PermissionError as error:
    assert error.errno == 1 and "starts no processes" in str(error), error
    assert error.__traceback__.tb_next is None, "a frame of ours"
    assert type(os.fork).__name__ == "builtin_function_or_method" and os.fork.__name__ == "fork"
    assert os.fork.__module__ == "posix", os.fork.__module__
    sys.exit(0)
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
