import functools
import random

NUMBER = 0


class Unavailable(Exception):
    pass


def retry(times, on=Exception):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(1, times + 1):
                try:
                    return function(*args, **kwargs)
                except on as error:
                    print(f"  {function.__name__}: attempt {attempt}: {error}")
                    last = error
            raise last

        return wrapper

    return decorate


generator = random.Random(NUMBER)


@retry(4, on=Unavailable)
def fetch(name):
    if generator.random() < 0.6:
        raise Unavailable(f"{name} does not answer")
    return name.upper()


done = {}
for name in ("alpha", "beta", "gamma", "delta"):
    try:
        done[name] = fetch(name)
    except Unavailable as error:
        done[name] = repr(error)
for name, result in done.items():
    print(name, "->", result)
print(fetch.__wrapped__.__name__)
