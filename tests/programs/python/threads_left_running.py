import sys
import threading
import time


def late():
    threading.main_thread().join()
    print("late, but here")
    sys.stdout.write("no newline")


threading.Thread(target=late).start()
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
print("main is through")
