import os
import signal
import threading

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
reading, writing = os.pipe()
os.set_blocking(writing, False)
signal.set_wakeup_fd(writing)
signal.signal(signal.SIGUSR2, lambda *a: None)
thread = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGUSR2))
thread.start()
thread.join()
print(os.read(reading, 1)[0] == signal.SIGUSR2)
signal.set_wakeup_fd(-1)
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigwait([signal.SIGUSR1]).name, signal.sigtimedwait([signal.SIGUSR1], 0.01))
print(signal.strsignal(signal.SIGSEGV), len(signal.valid_signals()))
raise KeyboardInterrupt
