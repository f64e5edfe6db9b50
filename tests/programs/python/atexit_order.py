import atexit
import sys
import threading
import time


@atexit.register
def first():
    print("registered first, called last")


atexit.register(print, "second", sep="-", file=sys.stderr)


@atexit.register
def fails():
    raise ValueError("in a handler")


atexit.register(first)
atexit.unregister(first)
atexit.register(lambda: print("handlers run after threads"))
threading.Thread(target=lambda: (time.sleep(0.02), print("thread"))).start()
sys.exit("the reason on stderr")
