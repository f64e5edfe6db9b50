# runtime: python-mp
import atexit
import os
import signal
import sys
import time

atexit.register(lambda: print("handler in", "child" if os.getpid() != parent else "parent"))
parent = os.getpid()
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    print("child ends at the end of the program")
    sys.exit(3)
_, status = os.waitpid(pid, 0)
print("exit code", os.waitstatus_to_exitcode(status), flush=True)
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)
print("signal", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
pid = os.fork()
if pid == 0:
    raise KeyError("a traceback of the child's own")
print("exception", os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
reading, writing = os.pipe()
if os.fork() == 0:
    os.close(reading)
    os.write(writing, b"through a pipe")
    os._exit(0)
os.close(writing)
print(os.read(reading, 100), os.wait()[1], os.read(reading, 1), flush=True)
pid = os.fork()
if pid == 0:
    time.sleep(30)
os.kill(pid, signal.SIGKILL)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
try:
    os.wait()
except ChildProcessError as error:
    print(error)
sys.exit(7)
