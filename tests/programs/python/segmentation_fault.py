import faulthandler
import os
import signal
import sys

print("before", flush=True)
faulthandler.dump_traceback(file=sys.stdout)
os.kill(os.getpid(), signal.SIGSEGV)
