import atexit
import os
import sys

atexit.register(print, "never")
print("flushed", flush=True)
sys.stdout.write("lost")
os._exit(7)
