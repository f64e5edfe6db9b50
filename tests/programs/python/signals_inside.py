import os
import signal
import time


seen = set()


def handler(number, frame):
    if number not in seen:
        seen.add(number)  # first, since the next alarm may come while this prints
        print("got", signal.Signals(number).name, flush=True)


for number in signal.SIGUSR1, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP:
    signal.signal(number, handler)
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGTERM)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)  # again and again: the first alarm may come before pause() does
while signal.SIGALRM not in seen:
    signal.pause()
signal.setitimer(signal.ITIMER_REAL, 0)
signal.alarm(1)
print(signal.alarm(0), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
os.kill(os.getpid(), signal.SIGHUP)
print(signal.sigpending(), "blocked", flush=True)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])
signal.signal(signal.SIGALRM, lambda *a: (_ for _ in ()).throw(TimeoutError("too slow")))
signal.setitimer(signal.ITIMER_REAL, 0.02)
try:
    while True:
        time.sleep(1)
except TimeoutError as error:
    print("stopped:", error)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
print("unflushed, and lost")
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(5)
