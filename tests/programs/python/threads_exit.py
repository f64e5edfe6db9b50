import sys
import threading

thread = threading.Thread(target=sys.exit, args=(5,))
thread.start()
thread.join()
print("sys.exit in a thread ends the thread", thread.is_alive())
sys.exit(3)
