"""How zygotes, slots and workers live and end, and that they leave nothing behind.  Prints TAP."""

import os
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time

import warm

TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Skip(Exception):
    pass


def children(pid):
    """All living processes below `pid`."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as file:
            for child in map(int, file.read().split()):
                found += [child] + children(child)
    return found


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def soon(condition, seconds=5):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def check(condition, *words):
    if not condition:
        raise AssertionError(" ".join(map(str, words)) or "does not hold")


def equal(found, hoped):
    check(found == hoped, f"{found!r} instead of {hoped!r}")


def say(slot, code, **job):
    """The output of a program that ends well."""
    run = slot.run(code, **job)
    check(run.exit_code == 0, run.stderr.decode())
    return run.stdout.decode()


# ---- how workers end -----------------------------------------------------------------------------


@test
def a_zygote_says_what_it_is(zygote, slot):
    check(zygote.version.startswith("cpython 3."), zygote.version)


@test
def a_zygote_in_which_an_import_left_a_thread_or_shared_memory_does_not_serve(zygote, slot):
    kinds = {
        "harmless": "import mmap\nkept = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE)",
        "sharing": "import mmap\nkept = mmap.mmap(-1, 4096)",
        "threaded": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    }
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copytree(os.environ["CED_LIBEXEC"], folder + "/libexec")
        for name, code in kinds.items():
            with open(f"{folder}/libexec/python/{name}.py", "w") as file:
                file.write(code)
            serves = True
            try:
                warm.Zygote(folder + "/libexec", preload=name).close()
            except EOFError:
                serves = False
            equal((name, serves), (name, name == "harmless"))


@test
def a_worker_is_pid_2_and_nobody_in_particular(zygote, slot):
    code = "import os\nprint(os.getpid(), os.getppid(), os.getuid(), os.getgid(), os.getgroups(), os.getcwd(), os.getsid(0))"
    # Without root a process cannot drop its supplementary groups; inside the jail only our own gid is mapped.
    groups = [] if os.getuid() == 0 else [1000 if gid == os.getgid() else 65534 for gid in os.getgroups()]
    equal(say(slot, code), f"2 0 1000 1000 {groups} /work 2\n")


@test
def a_worker_that_has_spoken_its_last_word_stays_until_it_is_killed(zygote, slot):
    worker = slot.make()
    equal(worker.run("print(1)").exit_code, 0)
    time.sleep(0.1)
    check(worker.ended is None)
    worker.kill()
    equal(os.waitstatus_to_exitcode(worker.wait_ended().status), -signal.SIGKILL)
    worker.drop()


@test
def a_closed_lifeline_ends_a_program_with_all_its_threads(zygote, slot):
    worker = slot.make()
    worker.send_job("import threading, time\nfor i in range(20): threading.Thread(target=time.sleep, args=(100,)).start()\n"
                    "print('up', flush=True)\ntime.sleep(100)")
    equal(os.read(worker.out, 10), b"up\n")
    below = children(zygote.pid)
    worker.kill()
    equal(os.waitstatus_to_exitcode(worker.wait_ended().status), -signal.SIGKILL)
    worker.drop()
    equal(len([pid for pid in below if is_alive(pid)]), 2)  # zygote and slot


@test
def a_byte_on_the_lifeline_does_the_same(zygote, slot):
    worker = slot.make()
    os.write(worker.lifeline, b"x")
    worker.wait_ended()
    worker.drop()


@test
def a_program_that_ends_by_itself_is_told_with_its_status(zygote, slot):
    for code, status in (("import os; os._exit(7)", 7), ("import os; os.abort()", -6),
                         ("import os; os.kill(os.getpid(), 9)", -9)):
        run = slot.run(code)
        equal((run.exit_code, os.waitstatus_to_exitcode(run.status)), (None, status))


@test
def a_worker_cannot_be_stopped_from_dying(zygote, slot):
    worker = slot.make()
    worker.send_job("import signal, os\nfor n in range(1, 65):\n  try: signal.signal(n, signal.SIG_IGN)\n  except (OSError, ValueError): pass\n"
                    "try: os.kill(1, 9)\nexcept OSError as e: print(e)\nprint('up', flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)")
    equal(os.read(worker.out, 100), b"up\n")
    time.sleep(0.05)
    worker.kill()
    worker.drop()


@test
def dropping_a_living_worker_kills_it(zygote, slot):
    worker = slot.make()
    worker.send_job("while True: pass")
    time.sleep(0.02)
    worker.drop()
    equal(say(slot, "print('next')"), "next\n")


@test
def nonsense_on_the_job_socket_ends_the_worker(zygote, slot):
    head = warm.JOB_HEAD
    body = warm.job_body("print(1)")
    for nonsense in (b"x" * 16, head.pack(warm.MAGIC, 99, 0, 0), head.pack(warm.MAGIC, warm.JOB_START, 0xFFFFFFFF, 0),
                     head.pack(warm.MAGIC, warm.JOB_START, 3, 0) + b"abc",
                     warm.job_message(body[:4] + b"\xff\xff\xff\xff" + body[8:]),
                     warm.job_message(body + b"more"), b"xx"):
        worker = slot.make()
        worker.job.sendall(nonsense)
        worker.job.shutdown(socket.SHUT_WR)
        equal(os.waitstatus_to_exitcode(worker.wait_ended().status), 1)
        equal(worker.job.recv(16), b"")
        worker.drop()


@test
def a_closed_job_socket_ends_the_worker(zygote, slot):
    worker = slot.make()
    worker.job.close()
    worker.wait_ended()
    worker.drop()


@test
def a_large_job_arrives_whole(zygote, slot):
    data = os.urandom(1 << 20) * 8
    code = "x = '" + "a" * 200000 + "'\nprint(len(x), len(open('big', 'rb').read()))"
    equal(say(slot, code, files=[("big", data, 0o644)]), f"200000 {len(data)}\n")


@test
def files_that_cannot_be_written_fail_the_job(zygote, slot):
    for files in ([("main.py", b"", 0o644)], [("a", b"", 0o644), ("a/b", b"", 0o644)], [("big", b"x" * (1 << 20), 0o644)]):
        run = slot.run("print(1)", files=files, limits={"disk_bytes": 1 << 19})
        check(run.failed and "file" in run.failed or "folder" in run.failed, run.failed)
        equal(run.begun, False)


@test
def paths_that_lead_out_end_the_worker(zygote, slot):
    for path in ("../x", "/x", "a/../x", "a//b", "./x", "a/", "", "x\0y", "."):
        worker = slot.make()
        worker.send_job("print(1)", files=[(path, b"", 0o644)])
        equal(os.waitstatus_to_exitcode(worker.wait_ended().status), 1)
        worker.drop()


@test
def an_impossible_environment_fails_the_job(zygote, slot):
    run = slot.run("print(1)", env=["=x"])
    check(run.failed and run.failed.startswith(("[Errno", "illegal", "embedded")) or run.failed, run.failed)


# ---- slots ---------------------------------------------------------------------------------------


@test
def a_slot_that_does_not_exist_is_refused(zygote, slot):
    for index in (0, 64, 1000):
        try:
            zygote.open_slot(index)
        except RuntimeError as error:
            check("cannot be opened" in str(error), error)
        else:
            check(False, index)


@test
def a_slot_that_is_spoken_to_out_of_turn_leaves_and_is_told(zygote, slot):
    for kind in (warm.COLLECT, warm.WORKER_MADE, warm.SLOT_OPEN):
        other = zygote.open_slot(1)
        fds = [0, 0] if kind == warm.COLLECT else [0] if kind == warm.SLOT_OPEN else []
        warm.send(other.sock, warm.pack(kind, 1, 1), fds)
        equal(other.sock.recv(10), b"")
        gone = warm.receive(zygote.sock)
        equal((gone.name, gone.slot), ("slot_gone", 1))


@test
def two_workers_at_a_time_are_one_too_many(zygote, slot):
    other = zygote.open_slot(1)
    worker = other.make()
    warm.send(other.sock, warm.pack(warm.WORKER_MAKE, 1, 9), [0, 1, 2, 0])
    equal(other.sock.recv(10), b"")
    equal(warm.receive(zygote.sock).name, "slot_gone")
    worker.kill()


@test
def a_slot_dies_with_its_conversation_and_its_worker_with_it(zygote, slot):
    before = set(children(zygote.pid))
    other = zygote.open_slot(1)
    worker = other.make()
    mine = set(children(zygote.pid)) - before
    equal(len(mine), 3)
    other.sock.close()
    equal(warm.receive(zygote.sock).name, "slot_gone")
    check(soon(lambda: not any(map(is_alive, mine))))
    worker.kill()


@test
def a_killed_slot_takes_its_worker_along(zygote, slot):
    before = set(children(zygote.pid))
    other = zygote.open_slot(1)
    pid = min(set(children(zygote.pid)) - before)
    worker = other.make()
    mine = set(children(zygote.pid)) - before
    os.kill(pid, signal.SIGKILL)
    gone = warm.receive(zygote.sock)
    equal((gone.name, gone.status), ("slot_gone", signal.SIGKILL))
    check(soon(lambda: not any(map(is_alive, mine))))
    worker.kill()
    again = zygote.open_slot(1)
    equal(say(again, "print(1)"), "1\n")
    again.sock.close()
    equal(warm.receive(zygote.sock).name, "slot_gone")


@test
def slots_work_side_by_side(zygote, slot):
    slots = [zygote.open_slot(i) for i in (1, 2)]
    workers = [s.make() for s in slots]
    for i, worker in enumerate(workers):
        worker.send_job(f"import time; time.sleep(0.05); print({i})")
    for i, worker in enumerate(workers):
        equal(worker.watch().stdout, b"%d\n" % i)
        worker.drop()
    for s in slots:
        s.sock.close()
        equal(warm.receive(zygote.sock).name, "slot_gone")


@test
def a_worker_that_cannot_join_its_cgroup_is_told_by_step(zygote, slot):
    null = os.open("/dev/null", os.O_RDONLY)
    other = zygote.open_slot(1, joins=[null])
    for _ in range(3):
        worker = other.make(wait=False)
        equal(other.expect(warm.WORKER_MADE).name, "worker_made")
        failed = other.expect(warm.WORKER_FAILED)
        check(failed.text.startswith("worker: cgroups: procs file 1 of 1"), failed.text)
        worker.kill()
    os.close(null)
    other.sock.close()
    equal(warm.receive(zygote.sock).name, "slot_gone")


@test
def impossible_files_are_told_by_step(zygote, slot):
    # Room for one inode in all, on every kernel; older kernels take any large number as unlimited.
    worker = slot.make(wait=False, inodes=(1 << 64) - 2)
    failed = slot.expect(warm.WORKER_FAILED)
    check(failed.text.startswith("files: "), failed.text)
    worker.kill()
    equal(say(slot, "print(1)"), "1\n")


@test
def everything_dies_with_the_daemon(zygote, slot):
    with warm.Zygote(slots=1) as other:
        worker = other.open_slot(0).make()
        worker.send_job("while True: pass")
        below = children(other.pid)
        equal(len(below), 4)
    check(soon(lambda: not any(map(is_alive, below))))
    worker.kill()


# ---- the environment of a worker -----------------------------------------------------------------


@test
def a_worker_has_four_descriptors(zygote, slot):
    code = "import os\nfor fd in range(300):\n  try: os.fstat(fd); print(fd, os.get_inheritable(fd))\n  except OSError: pass"
    equal(say(slot, code), "0 False\n1 True\n2 True\n3 False\n".replace("0 False", "0 True"))


@test
def a_worker_has_no_capability(zygote, slot):
    code = """import ctypes, struct
libc = ctypes.CDLL(None)
head, data = struct.pack("II", 0x20080522, 0), ctypes.create_string_buffer(24)
print(libc.capget(head, data), data.raw.strip(b"\\0"))"""
    equal(say(slot, code), "0 b''\n")


@test
def a_worker_sees_a_small_world(zygote, slot):
    code = """import os
print(os.path.exists("/proc/self"), os.path.exists("/sys/kernel"), sorted(os.listdir("/tmp")), sorted(os.listdir("/work")))
for path in "/", "/usr", "/dev", "/ced":
  try: open(path + "/x", "w"); print("wrote", path)
  except OSError as e: pass
st = os.statvfs("/work"); print(st.f_flag & (os.ST_NOEXEC | os.ST_NODEV | os.ST_NOSUID) == os.ST_NOEXEC | os.ST_NODEV | os.ST_NOSUID)
print(os.path.realpath(".."), os.listdir("/work/.."), sep=" ")"""
    lines = say(slot, code).split("\n")
    equal(lines[:2], ["False False [] ['main.py']", "True"])


@test
def a_worker_may_not_do_what_its_slot_does(zygote, slot):
    for code, status in (("libc.unshare(0x10000000)", -9), ("libc.setns(3, 0)", -9), ("libc.mount(0, b'/', 0, 0, 0)", -9),
                         ("libc.setresuid(0, 0, 0)", 0), ("libc.syscall(435, 0, 0)", 0), ("libc.prctl(4, 1, 0, 0, 0)", 0)):
        run = slot.run(f"import ctypes\nlibc = ctypes.CDLL(None)\nprint({code})")
        equal((code, run.code, run.stdout), (code, status, b"-1\n" if status == 0 else b""))


def refused(slot, code):
    """The slot's report about a program's refused calls: {number: (kind, count, ended)}, and how many found no row."""
    run = slot.run("import ctypes, os, socket, threading\nlibc = ctypes.CDLL(None)\n" + code)
    ended = run.ended
    return {nr: (kind, count, bool(end)) for nr, kind, count, end, _ in ended["refused"]}, ended["refused_others"]


@test
def what_a_worker_was_refused_is_told_by_number_kind_and_count(zygote, slot):
    code = "for family in (2, 2, 2, 10, 16):\n  try: socket.socket(family, socket.SOCK_DGRAM)\n  except PermissionError: pass\n" \
        "try: os.fork()\nexcept PermissionError: pass\nlibc.setresuid(0, 0, 0)"
    run = slot.run("import os, socket, ctypes\nlibc = ctypes.CDLL(None)\n" + code)
    rows = {(nr, kind): count for nr, kind, count, end, _ in run.ended["refused"] if not end}
    equal(rows, {(41, 2): 3, (41, 10): 1, (41, 16): 1, (56, 0): 1, (117, 0): 1})
    times = [row[4] for row in run.ended["refused"]]
    equal(times, sorted(times))
    check(all(0 < time.clock_gettime(time.CLOCK_MONOTONIC) - at / 1e6 < 10 for at in times))


@test
def an_ordinary_program_is_refused_nothing(zygote, slot):
    code = "import json, re, random, tempfile, subprocess, threading, asyncio, datetime, hashlib, decimal, pickle\n" \
        "thread = threading.Thread(target=print, args=('x',)); thread.start(); thread.join()\n" \
        "asyncio.run(asyncio.sleep(0)); tempfile.TemporaryFile().write(b'x'); random.random(); print(os.urandom(3))"
    equal(refused(slot, code), ({}, 0))
    equal(refused(slot, "print(1)"), ({}, 0))


@test
def a_call_without_innocent_use_ends_the_run_and_is_named(zygote, slot):
    for name, nr in (("ptrace", 101), ("mount", 165), ("unshare", 272), ("setns", 308), ("bpf", 321), ("seccomp", 317),
                     ("io_uring_enter", 426), ("fsopen", 430), ("keyctl", 250), ("init_module", 175), ("kexec_load", 246),
                     ("process_vm_readv", 310), ("perf_event_open", 298), ("userfaultfd", 323)):
        rows, others = refused(slot, f"print(os.getpid(), flush=True); libc.syscall({nr}, 0, 0, 0, 0, 0, 0); print('alive')")
        equal((name, rows, others), (name, {nr: (0, 1, True)}, 0))
    equal(refused(slot, "libc.syscall(56, 0x10000011, 0, 0, 0, 0)")[0], {56: (0, 1, True)})  # clone into a user namespace


@test
def a_program_that_asks_without_end_is_slowed_and_counted(zygote, slot):
    code = "import time\nbegin = time.monotonic(); n = 0\nwhile time.monotonic() - begin < 1:\n  libc.socket(2, 1, 0); n += 1\nprint(n)"
    run = slot.run("import ctypes\nlibc = ctypes.CDLL(None)\n" + code)
    n = int(run.stdout)
    check(50 < n < 2300, n)  # slowed but not stopped; an emulated processor calls less often than the limit allows
    equal([row[:4] for row in run.ended["refused"]], [(41, 2, n, 0)])


@test
def many_threads_and_kinds_that_ask_at_once_are_all_answered(zygote, slot):
    code = "def ask(n):\n  for i in range(30): libc.socket(n * 100 + i % 5, 1, 0)\n" \
        "threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]\n" \
        "for t in threads: t.start()\nfor t in threads: t.join()\nprint('all')"
    rows, others = refused(slot, code)
    run = slot.run("import ctypes, threading\nlibc = ctypes.CDLL(None)\n" + code)
    equal(run.stdout, b"all\n")
    equal(sum(row[2] for row in run.ended["refused"]) + run.ended["refused_others"], 600)
    equal(len(run.ended["refused"]), 12)


@test
def a_worker_that_is_killed_while_it_asks_ends_and_the_next_one_is_heard(zygote, slot):
    worker = slot.make()
    run = worker.run("import ctypes, threading\nlibc = ctypes.CDLL(None)\n"
                     "def ask():\n  while True: libc.socket(2, 1, 0)\n"
                     "for _ in range(8): threading.Thread(target=ask, daemon=True).start()\n"
                     "import os, time; time.sleep(0.2); os.kill(os.getpid(), 9)")
    equal(run.status, 9)
    worker.drop()
    equal(refused(slot, "libc.socket(2, 1, 0)"), ({41: (2, 1, False)}, 0))


@test
def a_worker_may_not_fork(zygote, slot):
    code = "import os\ntry: os.fork()\nexcept PermissionError as e: print('refused')"
    equal(say(slot, code), "refused\n")


@test
def core_files_are_not_written(zygote, slot):
    equal(say(slot, "import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))"), "(0, 0)\n")


# ---- nothing goes from run to run ----------------------------------------------------------------

PLANT = """import os, sys, fcntl, random, gc, atexit, builtins, resource
open('/work/planted', 'w').write('x'); open('/tmp/planted', 'w').write('x')
os.environ['PLANTED'] = '1'; sys.modules['planted'] = sys; builtins.planted = 1; os.umask(0)
for fd in 0, 1, 2, 3: fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK | os.O_APPEND)
sys.setrecursionlimit(5000); gc.disable(); random.seed(1); sys.path.append('/planted')
import string; string.planted = 1
"""
PROBE = """import os, sys, fcntl, gc, builtins, string
found = [p for p in ('/work/planted', '/tmp/planted') if os.path.exists(p)]
found += [n for n in ('PLANTED',) if n in os.environ]
found += ['planted' in sys.modules, hasattr(builtins, 'planted'), hasattr(string, 'planted'), '/planted' in sys.path]
print(found, oct(os.umask(0)), sys.getrecursionlimit(), gc.isenabled(), [fcntl.fcntl(fd, fcntl.F_GETFL) & (os.O_NONBLOCK | os.O_APPEND) for fd in (0, 1, 2, 3)])
"""


@test
def what_one_run_plants_the_next_does_not_find(zygote, slot):
    clean = say(slot, PROBE)
    equal(clean, "[False, False, False, False] 0o22 1000 True [0, 0, 0, 0]\n")
    say(slot, PLANT)
    equal(say(slot, PROBE), clean)


@test
def workers_do_not_share_their_chances(zygote, slot):
    code = "import random, tempfile, uuid, os, secrets, ssl\nprint(ssl.RAND_bytes(8).hex(), random.random(), random.SystemRandom().random(), tempfile.mktemp(), uuid.uuid4(), uuid.uuid1(), os.urandom(8), secrets.token_hex(8), sep='|')"
    first, second, third = (say(slot, code).split("|") for _ in range(3))
    for one, two, three in zip(first, second, third):
        equal(len({one, two, three}), 3)


@test
def two_thousand_workers_leave_nothing_behind(zygote, slot):
    def look():
        pid = max(children(zygote.pid)) if os.getuid() == 0 else None
        found = {"processes": len(children(zygote.pid))}
        if pid:
            found["descriptors"] = len(os.listdir(f"/proc/{pid}/fd"))
            with open(f"/proc/{pid}/mountinfo") as file:
                found["mounts"] = len(file.readlines())
            with open(f"/proc/{pid}/maps") as file:
                found["mappings"] = len(file.readlines())
        return found

    codes = ["print(1)", "import os; os._exit(3)", "x = (", "1/0", "import os; os.abort()",
             "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()"]
    for code in codes:
        slot.run(code)
    before = look()
    count = int(os.environ.get("CED_TEST_CYCLES", 300))
    for number in range(count):
        slot.run(codes[number % len(codes)])
    equal(look(), before)


# ---- limits --------------------------------------------------------------------------------------


@test
def files_have_a_ceiling_and_the_end_tells(zygote, slot):
    fill = "f = open('x', 'wb', 0)\ntry:\n  while True: f.write(bytes(65536))\nexcept OSError as e: print(e.errno, f.tell())"
    run = slot.run(fill, limits={"disk_bytes": 1 << 20})
    errno, size = map(int, run.stdout.split())
    check(errno == 28 and 900000 < size <= 1 << 20, errno, size)
    check(run.dropped.flags & warm.FLAG_DISK_FULL and run.dropped.disk_bytes >= size)
    run = slot.run("import os\ntry:\n  for i in range(1000): open(str(i), 'w')\nexcept OSError as e: print(e.errno, i)", limits={"inodes": 50})
    equal(run.stdout, b"28 49\n")
    check(run.dropped.flags & warm.FLAG_INODES_FULL and run.dropped.inodes == 50, run.dropped)
    run = slot.run("print(1)")
    equal((run.dropped.flags, run.dropped.inodes), (0, 1))


@test
def limits_of_a_waiting_worker_can_be_changed_both_ways(zygote, slot):
    code = "import resource, os\nst = os.statvfs('/work')\nprint(st.f_blocks * st.f_frsize, st.f_files - 3, resource.getrlimit(resource.RLIMIT_NOFILE)[0], " \
        "resource.getrlimit(resource.RLIMIT_FSIZE)[0], resource.getrlimit(resource.RLIMIT_CPU)[0])"
    worker = slot.make(disk_bytes=1 << 20, inodes=100, open_files=50, file_bytes=4096, cpu_ms=3000)
    for numbers in ({"disk_bytes": 1 << 21, "inodes": 200, "open_files": 60, "file_bytes": 1 << 20, "cpu_ms": 9000},
                    {"disk_bytes": 1 << 19, "inodes": 20, "open_files": 40, "file_bytes": 1 << 18, "cpu_ms": 1000}):
        warm.send(slot.sock, warm.pack(warm.ADJUST, 0, slot.sequence, **numbers))
        equal(slot.expect(warm.ADJUSTED).status, 0)
    equal(worker.run(code).stdout, b"524288 20 40 262144 3\n")
    worker.drop()


@test
def adjusting_a_dead_worker_is_told(zygote, slot):
    worker = slot.make()
    worker.kill()
    worker.wait_ended()
    warm.send(slot.sock, warm.pack(warm.ADJUST, 0, slot.sequence))
    adjusted = slot.expect(warm.ADJUSTED)
    check(adjusted.status == -1 and adjusted.text, adjusted)
    worker.drop()


@test
def cpu_time_has_a_limit_that_cannot_be_ignored(zygote, slot):
    busy = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
    for code in (busy + "while True: pass", busy + "import threading, hashlib\nfor i in range(8):\n"
                 "  threading.Thread(target=hashlib.pbkdf2_hmac, args=('sha256', b'a', b'b', 10**9)).start()"):
        begun = time.monotonic()
        run = slot.run(code, limits={"cpu_ms": 200})
        used = run.status == signal.SIGKILL and time.monotonic() - begun
        check(used and used < 5, run.status, used)
        check(slot.last.ended.flags & warm.FLAG_CPU_LIMIT, slot.last.ended)
    slot.run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", limits={"cpu_ms": 200})
    check(not slot.last.ended.flags & warm.FLAG_CPU_LIMIT, slot.last.ended)


@test
def cpu_time_of_threads_is_counted_together(zygote, slot):
    worker = slot.make(cpu_ms=300)
    run = worker.run("import threading, hashlib\nfor i in range(4):\n  threading.Thread(target=hashlib.pbkdf2_hmac, args=('sha256', b'a', b'b', 10**9)).start()")
    usage = worker.ended.usage
    used = usage["cpu_user_us"] + usage["cpu_sys_us"]
    check(run.status == signal.SIGKILL and 290000 < used < 900000, run.status, used)
    worker.drop()


@test
def memory_can_be_held_by_rlimit(zygote, slot):
    code = "try:\n  x = bytearray(200 << 20)\n  print('got it')\nexcept MemoryError: print('refused')\ny = bytearray(20 << 20); print('small')"
    equal(slot.run(code, flags=warm.FLAG_RLIMIT_MEMORY, limits={"memory_bytes": 64 << 20}).stdout, b"refused\nsmall\n")
    equal(slot.run(code, limits={"memory_bytes": 64 << 20}).stdout, b"got it\nsmall\n")


@test
def threads_can_be_held_by_rlimit(zygote, slot):
    code = "import threading, time\nn = 0\ntry:\n  for n in range(100): threading.Thread(target=time.sleep, args=(0.2,)).start()\nexcept RuntimeError: pass\nprint(n)"
    equal(slot.run(code, flags=warm.FLAG_RLIMIT_PIDS, limits={"pids": 10}).stdout, b"9\n")


@test
def usage_is_told_at_the_end(zygote, slot):
    worker = slot.make()
    worker.run("x = bytearray(50 << 20)\nfor i in range(1000000): pass")
    worker.kill()
    usage = worker.wait_ended().usage
    check(usage["max_rss_bytes"] > 50 << 20 and usage["cpu_user_us"] > 1000, usage)
    check(0 < worker.made_cpu_us < usage["cpu_user_us"] + usage["cpu_sys_us"], worker.made_cpu_us, usage)
    worker.drop()


# ---- artifacts -----------------------------------------------------------------------------------


def names(entries):
    return sorted((reason, path.decode("utf-8", "backslashreplace")) for reason, path, _, _ in entries)


@test
def artifacts_come_back_as_they_are(zygote, slot):
    run = slot.run("import os\nopen('a.txt', 'w').write('text')\nos.makedirs('d/e')\nopen('d/e/b.bin', 'wb').write(bytes(range(256)))\nos.chmod('a.txt', 0o640)\nopen('empty', 'w')",
                   artifacts=["*"])
    found = {path: (reason, mode, data) for reason, path, mode, data in run.artifacts}
    equal(sorted(found), [b"a.txt", b"d/e/b.bin", b"empty", b"main.py"])
    equal(found[b"a.txt"], ("taken", 0o640, b"text"))
    equal(found[b"d/e/b.bin"], ("taken", 0o644, bytes(range(256))))
    equal(found[b"empty"][2], b"")


@test
def patterns_choose_artifacts(zygote, slot):
    code = "import os\nos.makedirs('d/e')\nfor p in ('a.txt', 'b.csv', 'd/a.txt', 'd/e/a.txt', 'd/e/b.csv'): open(p, 'w')"
    for globs, hoped in ((["*.txt"], ["a.txt"]), (["d/*.txt"], ["d/a.txt"]), (["**/*.txt"], ["a.txt", "d/a.txt", "d/e/a.txt"]),
                         (["d/**"], ["d/a.txt", "d/e/a.txt", "d/e/b.csv"]), (["b.csv", "d/e/b.csv"], ["b.csv", "d/e/b.csv"]),
                         ([], []), (["nothing"], []), (["../*", "/etc/*", "[", ""], []), (["?.txt"], ["a.txt"])):
        run = slot.run(code, artifacts=globs)
        equal((globs, [path for _, path in names(run.artifacts)]), (globs, hoped))


@test
def only_ordinary_files_are_artifacts(zygote, slot):
    if warm.BASE_FILTER:
        raise Skip("the base filter refuses links and fifos")
    code = """import os, socket
open('plain', 'w').write('x')
os.symlink('/etc/passwd', 'link'); os.symlink('/usr', 'dirlink'); os.symlink('plain', 'inner')
os.mkfifo('fifo'); os.link('plain', 'hard'); os.makedirs('dir')
os.mkdir('locked'); open('locked/in', 'w').write('y'); os.chmod('locked', 0); open('secret', 'w').write('z'); os.chmod('secret', 0)"""
    run = slot.run(code, artifacts=["*"])
    equal(names(run.artifacts), [("hard_link", "hard"), ("hard_link", "plain"), ("not_regular", "dirlink"), ("not_regular", "fifo"),
                                 ("not_regular", "inner"), ("not_regular", "link"), ("taken", "locked/in"), ("taken", "main.py"), ("taken", "secret")])


@test
def giants_and_crowds_are_cut(zygote, slot):
    worker = slot.make()
    worker.run("f = open('giant', 'wb'); f.truncate(60 << 20)\nopen('a', 'wb').write(bytes(6000))\nopen('b', 'wb').write(bytes(6000))\nopen('c', 'wb').write(bytes(100))")
    equal(names(worker.collect(["[abc]", "giant"], size=10000)),
          [("taken", "a"), ("taken", "c"), ("too_large", "b"), ("too_large", "giant")])
    worker.drop()
    worker = slot.make(inodes=20000, cpu_ms=60000)
    worker.run("for i in range(12000): open(f'{i:05}', 'w').close()")
    equal([reason for reason, _ in names(worker.collect(["*"], count=3))], ["taken"] * 3 + ["too_many"])
    worker.drop()
    worker = slot.make(inodes=20000, cpu_ms=60000)
    worker.run("for i in range(12000): open(f'{i:05}', 'w').close()")
    equal(names(worker.collect(["none"])), [("too_many_entries", "")])
    worker.drop()


@test
def a_deep_tree_is_cut(zygote, slot):
    run = slot.run("import os\nfor i in range(60):\n  os.mkdir('d'); open('f', 'w').close(); os.chdir('d')", artifacts=["**"])
    reasons = [reason for reason, _, _, _ in run.artifacts]
    check("too_deep" in reasons and len(reasons) < 40, reasons)


@test
def odd_names_are_told_and_not_taken(zygote, slot):
    run = slot.run("open(b'bad\\xff', 'w'); open('new\\nline', 'w'); open('\\u202ebidi', 'w'); open(' ', 'w')", artifacts=["*"])
    equal(names(run.artifacts), [("bad_name", "bad\\xff"), ("taken", " "), ("taken", "main.py"), ("taken", "new\nline"), ("taken", "\u202ebidi")])


@test
def a_daemon_that_does_not_read_does_not_hold_the_slot(zygote, slot):
    worker = slot.make()
    worker.run("open('a', 'wb').write(bytes(1 << 20))")
    worker.kill()
    worker.wait_ended()
    ours, theirs = os.pipe()
    globs = os.memfd_create("globs")
    os.write(globs, b"*\0")
    warm.send(slot.sock, warm.pack(warm.COLLECT, 0, slot.sequence, artifact_count=5, artifact_bytes=1 << 20), [theirs, globs])
    os.close(theirs)
    os.close(globs)
    equal(slot.expect(warm.COLLECTED, timeout=20).status, signal.SIGALRM)
    os.close(ours)
    worker.drop()


@test
def collecting_waits_until_all_are_dead(zygote, slot):
    worker = slot.make()
    worker.send_job("open('a', 'w').write('x')\nprint(1, flush=True)\nwhile True: pass")
    os.read(worker.out, 10)
    equal(names(worker.collect(["a"])), [("taken", "a")])
    worker.drop()


def main(wanted):
    chosen = [function for function in TESTS if not wanted or wanted in function.__name__]
    failed = 0
    who = "root" if os.getuid() == 0 else "user"
    print(f"1..{len(chosen)}")
    zygote = slot = None
    for number, function in enumerate(chosen, 1):
        title = f"{number} - {who}: {function.__name__.replace('_', ' ')}"
        if zygote is None:
            zygote = warm.Zygote()
            slot = zygote.open_slot(0)
        try:
            function(zygote, slot)
            print(f"ok {title}", flush=True)
        except Skip as reason:
            print(f"ok {title} # SKIP {reason}", flush=True)
        except Exception as error:
            failed += 1
            line = error.__traceback__.tb_next.tb_lineno if error.__traceback__.tb_next else 0
            print(f"not ok {title}\n# line {line}: {type(error).__name__}: {str(error)[:1500]!r}", flush=True)
            zygote.close()
            zygote = None
    if zygote:
        zygote.close()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
