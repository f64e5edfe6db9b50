import sys
import threading

first = threading.Thread(target=lambda: 1 / 0, name="divider")
first.start()
first.join()
threading.excepthook = lambda args: print("hook", args.exc_type.__name__, args.exc_value, file=sys.stderr)
thread = threading.Thread(target=lambda: {}["missing"])
thread.start()
thread.join()
print("main goes on")
