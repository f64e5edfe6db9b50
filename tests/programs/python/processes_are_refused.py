# inside: fork [Errno 1] fork is refused: this runtime starts no processes
# inside: run [Errno 1] fork_exec is refused: this runtime starts no processes
# inside: system [Errno 1] system is refused: this runtime starts no processes
# inside: exec [Errno 1] execv is refused: this runtime starts no processes
# inside: pool [Errno 1] fork is refused: this runtime starts no processes
# inside: executor [Errno 1] fork is refused: this runtime starts no processes
# inside: threads [1, 4]
import concurrent.futures
import multiprocessing.pool
import os
import subprocess
import sys


def fork():
    if os.fork() == 0:
        os._exit(0)
    return "works"


def execute():
    if os.access("/bin/true", os.X_OK) and os.fork():
        return "works"
    os.execv("/bin/true", ["true"])


def pool():
    with multiprocessing.Pool(1) as pool:
        return pool.map(abs, [-1])


def executor():
    with concurrent.futures.ProcessPoolExecutor(1) as executor:
        return executor.submit(abs, -1).result()


def threads():
    with multiprocessing.pool.ThreadPool(2) as pool:
        return pool.map(lambda x: x * x, [1, 2])


sys.stdout.flush()
trials = {
    "fork": fork, "run": lambda: subprocess.run(["/bin/true"]).returncode, "system": lambda: os.system("true"),
    "exec": execute, "pool": pool, "executor": executor, "threads": threads,
}
for name, trial in trials.items():
    try:
        print(name, trial(), flush=True)
    except PermissionError as error:
        print(name, error, flush=True)
