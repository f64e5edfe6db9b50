# runtime: python-mp
# inside: run fork_exec is refused: this runtime starts no other programs
# inside: system system is refused: this runtime starts no other programs
# inside: exec 1
# inside: spawn fork_exec is refused: this runtime starts no other programs
import multiprocessing
import os
import subprocess
import sys


def spawn():
    multiprocessing.get_context("spawn").Process(target=print, args=("spawned",)).start()
    return "works"


def execute():
    pid = os.fork()
    if pid == 0:
        try:
            os.execv("/bin/true", ["true"])
        except OSError as error:
            os._exit(error.errno)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    sys.stdout.flush()
    for name, trial in {"run": lambda: subprocess.run(["true"]), "system": lambda: os.system("true"), "exec": execute, "spawn": spawn}.items():
        try:
            print(name, trial(), flush=True)
        except OSError as error:
            print(name, error.strerror, flush=True)
    [child.kill() for child in multiprocessing.active_children()]
