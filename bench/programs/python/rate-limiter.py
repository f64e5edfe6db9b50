from collections import defaultdict, deque

NUMBER = 0


class Limiter:
    """At most `most` calls in any `window` seconds."""

    def __init__(self, most, window):
        self.most = most
        self.window = window
        self.calls = defaultdict(deque)

    def allow(self, key, now):
        calls = self.calls[key]
        while calls and calls[0] <= now - self.window:
            calls.popleft()
        if len(calls) >= self.most:
            return False
        calls.append(now)
        return True


class Bucket:
    def __init__(self, rate, size):
        self.rate, self.size = rate, size
        self.tokens = size
        self.last = 0.0

    def take(self, now):
        self.tokens = min(self.size, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


limiter = Limiter(3, 10)
bucket = Bucket(0.5, 4)
for i in range(20):
    now = i * 1.5 + NUMBER % 10 / 10
    print(f"{now:5.1f}", "window" if limiter.allow("ann", now) else "      ", "bucket" if bucket.take(now) else "")
