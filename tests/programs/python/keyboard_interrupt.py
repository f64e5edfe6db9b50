import os
import signal
import time

print("waiting", flush=True)
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    print("interrupted", flush=True)
raise KeyboardInterrupt("again")
