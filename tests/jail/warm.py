"""Plays spawner and daemon for zygote, slot and worker: enough to test them without either.

    with Zygote(libexec) as zygote:
        slot = zygote.open_slot(0)
        run = slot.run(b"print(1)")
        run.stdout, run.exit_code, run.error

As root the zygote gets a block of uids as under systemd; otherwise it gets one.  Loading the base filter is
the spawner's task and is not done here; tests of the filter use the real spawner.
"""

import array
import ctypes
import json
import os
import select
import signal
import socket
import struct
import sys
import time

MAGIC = 0x43454401
(
    ZYGOTE_READY, SLOT_OPENED, SLOT_FAILED, SLOT_GONE, SLOT_OPEN, WORKER_MAKE, ADJUST, COLLECT,
    CELL_END, KEEP, PROMOTE, STATE_DROP,
    WORKER_DROP, WORKER_MADE, WORKER_FAILED, ADJUSTED, WORKER_ENDED, COLLECTED, DROPPED,
    WORKER_REFUSED,
) = range(1, 21)
JOB_START, JOB_READY, JOB_FAILED, JOB_BEGUN, JOB_ERROR, JOB_DONE = range(1, 7)
KINDS = "none zygote_ready slot_opened slot_failed slot_gone slot_open worker_make adjust collect " \
        "cell_end keep promote state_drop worker_drop " \
        "worker_made worker_failed adjusted worker_ended collected dropped worker_refused cell_ended " \
        "permitted kept promoted state_gone".split()
FLAG_RLIMIT_MEMORY, FLAG_RLIMIT_PIDS, FLAG_DISK_FULL, FLAG_INODES_FULL, FLAG_CPU_LIMIT = 1, 2, 4, 8, 16

# struct slotmsg, struct slotmsg_limits and struct slotmsg_usage
HEAD = struct.Struct("=IIIIIIiiI4xQQQ")
LIMITS = "memory_bytes disk_bytes inodes cpu_ms pids open_files file_bytes".split()
USAGE = "cpu_user_us cpu_sys_us max_rss_bytes ctx_voluntary ctx_forced".split()
TEXT_MAX = 192
REFUSED_MAX = 12
REFUSED = struct.Struct("=IIIIq")  # nr, kind, count, ended, first_us; two counts stand before them
REFUSED_LEN = 8 + REFUSED_MAX * REFUSED.size
REFUSED_AT = HEAD.size + 8 * (len(LIMITS) + len(USAGE))
MSG_LEN = REFUSED_AT + REFUSED_LEN + TEXT_MAX
JOB_HEAD = struct.Struct("=IIIi")
JOB_BODY = struct.Struct("=10I")
ARTIFACT_HEAD = struct.Struct("=IIIIQ")
REASONS = "taken too_many not_regular too_large unreadable bad_name hard_link too_deep too_many_entries".split()

PATIENCE = 60  # seconds; only a stuck process takes so long, and an emulator takes ten times as long as we do

libc = ctypes.CDLL(None, use_errno=True)
UID_BASE = 410000
NEW_ALL = 0x10000000 | 0x20000 | 0x20000000 | 0x8000000 | 0x4000000 | 0x40000000 | 0x2000000
NEWPID = 0x20000000
MS_NOSUID, MS_NODEV, MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 1, 32, 4096, 16384, 1 << 18


def call(name, *args):
    args = [a.encode() if isinstance(a, str) else a for a in args]
    result = getattr(libc, name)(*args)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}{args}: {os.strerror(number)}")
    return result


class Msg(dict):
    __getattr__ = dict.__getitem__

    @property
    def name(self):
        return KINDS[self["kind"]]


def pack(kind, slot=0, sequence=0, flags=0, artifact_count=0, artifact_bytes=0, **limits):
    head = HEAD.pack(MAGIC, kind, slot, sequence, flags, 0, 0, 0, artifact_count, artifact_bytes, 0, 0)
    numbers = [limits.pop(name, 0) for name in LIMITS] + [0] * len(USAGE)
    assert not limits, limits
    return head + struct.pack(f"={len(numbers)}Q", *numbers) + bytes(REFUSED_LEN + TEXT_MAX)


def unpack(data):
    if len(data) != MSG_LEN:
        raise EOFError("the peer has gone" if not data else f"{len(data)} bytes")
    names = "magic kind slot sequence flags state pid status artifact_count artifact_bytes disk_bytes inodes"
    msg = Msg(zip(names.split(), HEAD.unpack_from(data)))
    msg["usage"] = dict(zip(USAGE, struct.unpack_from(f"={len(USAGE)}Q", data, HEAD.size + 8 * len(LIMITS))))
    count, msg["refused_others"] = struct.unpack_from("=II", data, REFUSED_AT)
    msg["refused"] = [REFUSED.unpack_from(data, REFUSED_AT + 8 + i * REFUSED.size) for i in range(count)]
    msg["text"] = data[-TEXT_MAX:].split(b"\0")[0].decode()
    return msg


def receive(sock, timeout=PATIENCE):
    if not select.select([sock], [], [], timeout)[0]:
        raise TimeoutError("no message")
    return unpack(sock.recv(4096))


def send(sock, data, fds=()):
    socket.send_fds(sock, [data], list(fds))


# ---- the spawner's part ------------------------------------------------------------------------

BINDS = ["/usr", "/lib", "/lib64", "/etc/alternatives", *os.environ.get("CED_TEST_BINDS", "").split()]
NODES = ["null", "zero", "full", "random", "urandom"]


def write_file(path, text):
    with open(path, "w") as file:
        file.write(text)


def build_jail(harness):
    """Makes a tree for a zygote.  Returns a descriptor of a procfs that is mounted nowhere in it."""
    root = "/mnt"
    call("mount", None, "/", None, MS_REC | MS_PRIVATE, None)
    call("mount", "tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    os.chdir(root)
    for path in BINDS:
        if os.path.islink(path):
            os.symlink(os.readlink(path), "." + path)
        elif os.path.isdir(path):
            os.makedirs("." + path, exist_ok=True)
            call("mount", path, "." + path, None, MS_BIND | MS_REC, None)
    for folder in "dev work tmp ced old proc".split():
        os.makedirs(folder, exist_ok=True)
    call("mount", harness, "ced", None, MS_BIND, None)
    for node in NODES:
        os.close(os.open("dev/" + node, os.O_CREAT | os.O_WRONLY))
        call("mount", "/dev/" + node, "dev/" + node, None, MS_BIND, None)
    call("mount", "proc", "proc", "proc", 0, None)
    proc = os.open("proc", os.O_PATH | os.O_DIRECTORY)
    call("umount2", "proc", 2)
    os.rmdir("proc")
    call("syscall", 155, b".", b"old")  # pivot_root
    os.chdir("/")
    call("umount2", "/old", 2)
    os.rmdir("/old")
    call("mount", None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, None)
    return proc


def as_root_inside():
    os.setgid(0)
    os.setuid(0)


def read_if_named(path):
    if not path:
        return b""
    with open(path, "rb") as file:
        return file.read()


# The base filter as bytes, if it was built: see tests/jail/CMakeLists.txt.
BASE_FILTER = read_if_named(os.environ.get("CED_BASE_FILTER"))


def load_filter(code):
    if not code:
        return
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("@HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    call("prctl", 22, 2, program, 0, 0)  # PR_SET_SECCOMP


def zygote_main(sock, harness, interpreter, preload, slots, uids):
    """Runs in the child that is pid 1 of the new namespaces."""
    if uids == "block":
        os.setgroups([])
        as_root_inside()
    call("prctl", 4, 1, 0, 0, 0)  # dumpable again, so that /proc/<pid> belongs to us
    proc = build_jail(harness)
    null = os.open("/dev/null", os.O_RDWR)
    high = [os.dup2(fd, 100 + i) for i, fd in enumerate([sock, proc])]
    for fd, source in ((0, null), (1, null), (3, high[0]), (4, high[1])):
        os.dup2(source, fd, inheritable=True)
    os.closerange(5, 200)
    call("prctl", 38, 1, 0, 0, 0)  # no_new_privs
    load_filter(BASE_FILTER)
    env = {
        "PATH": "/usr/bin:/bin", "HOME": "/work", "LANG": "C.UTF-8", "TZ": "UTC", "TMPDIR": "/tmp",
        "CED_FD": "3", "CED_PROC_FD": "4", "CED_PRELOAD": preload, "CED_SLOTS": str(slots),
        "CED_UIDS": uids,
    }
    os.execve(interpreter, [interpreter, "-I", "-B", "/ced/zygote.py"], env)


class Zygote:
    def __init__(self, libexec=None, preload="json re collections random threading", slots=4,
                 interpreter=os.environ.get("CED_TEST_PYTHON", "/usr/bin/python3.11")):
        libexec = libexec or os.environ["CED_LIBEXEC"]
        self.sock, child_sock = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        gate, opened = os.pipe(), os.pipe()
        root = os.getuid() == 0
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.sock.close()
                os.close(opened[0])
                os.close(gate[1])
                call("unshare", NEW_ALL)
                os.write(opened[1], b"u")
                os.close(opened[1])
                if os.read(gate[0], 1) != b"m":
                    os._exit(1)
                os.close(gate[0])
                call("prctl", 1, 9, 0, 0, 0)
                pid = os.fork()
                if pid == 0:
                    call("prctl", 1, 9, 0, 0, 0)
                    zygote_main(child_sock.fileno(), libexec + "/python", interpreter, preload,
                                slots, "block" if root else "one")
                child_sock.close()
                os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xFF)
            except BaseException as error:
                print("zygote:", error, file=sys.stderr)
            finally:
                os._exit(1)
        child_sock.close()
        os.close(opened[1])
        os.close(gate[0])
        if os.read(opened[0], 1) != b"u":
            raise RuntimeError("namespaces were refused")
        os.close(opened[0])
        if not root:
            write_file(f"/proc/{self.pid}/setgroups", "deny")
        write_file(f"/proc/{self.pid}/uid_map", f"0 {UID_BASE} 65" if root else f"0 {os.getuid()} 1")
        write_file(f"/proc/{self.pid}/gid_map", f"0 {UID_BASE} 65" if root else f"0 {os.getgid()} 1")
        os.write(gate[1], b"m")
        os.close(gate[1])
        ready = receive(self.sock)
        assert ready.kind == ZYGOTE_READY, ready
        self.version = ready.text

    def open_slot(self, index, joins=()):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        send(self.sock, pack(SLOT_OPEN, slot=index), [theirs.fileno(), *joins])
        theirs.close()
        msg = receive(self.sock)
        if msg.kind != SLOT_OPENED:
            raise RuntimeError(f"{msg.name}: {msg.text}")
        return Slot(ours, index)

    def close(self):
        self.sock.close()
        if self.pid:
            status = os.waitpid(self.pid, 0)[1]
            self.pid = 0
            return status

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


# ---- the daemon's part -------------------------------------------------------------------------


def job_body(code, entrypoint="main.py", args=(), env=(), files=(), has_stdin=False):
    def texts(items):
        return b"".join(struct.pack("=I", len(item)) + item for item in map(as_bytes, items))

    files = [(as_bytes(path), data, mode) for path, data, mode in files]
    code, entrypoint = as_bytes(code), as_bytes(entrypoint)
    head = JOB_BODY.pack(len(code), len(entrypoint), len(args), len(env), len(files), has_stdin, 0, 0, 0, 0)
    packed = b"".join(struct.pack("=IIQ", len(p), m, len(d)) + p + d for p, d, m in files)
    return head + code + entrypoint + texts(args) + texts(env) + packed


def as_bytes(text):
    return text.encode() if isinstance(text, str) else text


def job_message(body, kind=JOB_START):
    return JOB_HEAD.pack(MAGIC, kind, len(body), 0) + body


class Slot:
    def __init__(self, sock, index):
        self.sock = sock
        self.index = index
        self.sequence = 0

    def make(self, flags=0, wait=True, **limits):
        self.sequence += 1
        worker = Worker(self)
        theirs = worker.take_ends()
        send(self.sock, pack(WORKER_MAKE, self.index, self.sequence, flags, **limits), theirs)
        for fd in theirs:
            os.close(fd)
        if wait:
            worker.wait_ready()
        return worker

    def expect(self, kind, timeout=PATIENCE):
        """The next message other than WORKER_REFUSED, which may come at any time before the end."""
        while (msg := self.next(timeout)).kind == WORKER_REFUSED:
            pass
        return self.check(msg, kind)

    def next(self, timeout=PATIENCE):
        msg = receive(self.sock, timeout)
        assert msg.sequence == self.sequence and msg.slot == self.index
        return msg

    def check(self, msg, kind):
        if msg.kind != kind:
            raise RuntimeError(f"{msg.name} instead of {KINDS[kind]}: {msg.text}")
        return msg

    def run(self, code, artifacts=None, timeout=PATIENCE, flags=0, limits={}, **job):
        worker = self.last = self.make(flags, **limits)
        run = worker.run(code, timeout=timeout, **job)
        if artifacts is not None:
            run.artifacts = worker.collect(artifacts)
        run.dropped = worker.drop()
        run.ended = worker.ended
        return run


class Run:
    begun = False
    exit_code = None  # of the DONE message; None: the worker died first
    error = None
    failed = None
    status = None

    @property
    def code(self):
        """The exit status, or the negative number of the signal."""
        return self.exit_code if self.exit_code is not None else os.waitstatus_to_exitcode(self.status)


class Worker:
    def __init__(self, slot):
        self.slot = slot
        self.job, self.their_job = socket.socketpair()
        self.out, self.their_out = os.pipe()
        self.err, self.their_err = os.pipe()
        self.their_life, self.lifeline = os.pipe()
        self.ended = None

    def take_ends(self):
        return [self.their_job.detach(), self.their_out, self.their_err, self.their_life]

    def wait_ready(self):
        self.made = self.slot.expect(WORKER_MADE)
        head = self.read_head()
        if head is None:
            failed = receive(self.slot.sock)
            raise RuntimeError(f"{failed.name}: {failed.text} {failed.status:#x} {os.read(self.err, 4096).decode()}")
        assert head[1] == JOB_READY, head
        self.made_cpu_us = head[3]

    def read_exactly(self, count, timeout=PATIENCE):
        data = b""
        while len(data) < count:
            if not select.select([self.job], [], [], timeout)[0]:
                raise TimeoutError("worker is silent")
            more = self.job.recv(count - len(data))
            if not more:
                return None
            data += more
        return data

    def read_head(self):
        data = self.read_exactly(JOB_HEAD.size)
        return JOB_HEAD.unpack(data) if data else None

    def send_job(self, code, stdin=None, **job):
        message = job_message(job_body(code, has_stdin=stdin is not None, **job))
        fds = []
        if stdin is not None:
            if isinstance(stdin, int):
                fds = [stdin]
            else:
                fds = [os.memfd_create("stdin")]
                os.write(fds[0], as_bytes(stdin))
                os.lseek(fds[0], 0, 0)
        sent = socket.send_fds(self.job, [message], fds)
        if sent < len(message):
            self.job.sendall(message[sent:])
        for fd in fds:
            os.close(fd)

    def run(self, code, timeout=PATIENCE, **job):
        self.send_job(code, **job)
        return self.watch(timeout)

    def watch(self, timeout=PATIENCE):
        run = Run()
        parts = {self.out: [], self.err: []}
        end = time.monotonic() + timeout
        words = b""
        watched = {self.job.fileno(), self.out, self.err, self.slot.sock.fileno()}
        while run.exit_code is None and run.status is None and run.failed is None:
            ready = select.select(list(watched), [], [], max(0, end - time.monotonic()))[0]
            if not ready:
                self.kill()
                raise TimeoutError(f"the run takes too long; so far {parts}")
            for fd in ready:
                if fd in parts:
                    data = os.read(fd, 65536)
                    parts[fd].append(data)
                    if not data:
                        watched.discard(fd)
                elif fd == self.job.fileno():
                    data = self.job.recv(65536)
                    words += data
                    if not data:
                        watched.discard(fd)
                elif (msg := self.slot.next()).kind != WORKER_REFUSED:
                    self.slot.check(msg, WORKER_ENDED)
                    self.ended = msg
                    run.status = msg.status
            words = self.take_words(run, words)
        for fd in parts:
            os.set_blocking(fd, False)
            try:
                while parts[fd][-1:] != [b""]:
                    parts[fd].append(os.read(fd, 65536))
            except BlockingIOError:
                pass
        run.stdout, run.stderr = (b"".join(parts[fd]) for fd in (self.out, self.err))
        return run

    def take_words(self, run, words):
        while len(words) >= JOB_HEAD.size:
            magic, kind, length, code = JOB_HEAD.unpack_from(words)
            if len(words) < JOB_HEAD.size + length:
                break
            body = words[JOB_HEAD.size:JOB_HEAD.size + length]
            words = words[JOB_HEAD.size + length:]
            if kind == JOB_BEGUN:
                run.begun = True
            elif kind == JOB_ERROR:
                run.error = json.loads(body)
            elif kind == JOB_FAILED:
                run.failed = body.decode()
            elif kind == JOB_DONE:
                run.exit_code = code
        return words

    def kill(self):
        if self.lifeline >= 0:
            os.close(self.lifeline)
            self.lifeline = -1

    def wait_ended(self):
        if self.ended is None:
            self.ended = self.slot.expect(WORKER_ENDED)
        return self.ended

    def collect(self, globs, count=16, size=8 << 20):
        """-> [(reason, path, mode, data)]"""
        self.kill()
        self.wait_ended()
        ours, theirs = os.pipe()
        fd = os.memfd_create("globs")
        os.write(fd, b"".join(as_bytes(glob) + b"\0" for glob in globs))
        send(self.slot.sock, pack(COLLECT, self.slot.index, self.slot.sequence, artifact_count=count,
                                  artifact_bytes=size), [theirs, fd])
        os.close(theirs)
        os.close(fd)
        with open(ours, "rb") as file:
            data = file.read()
        self.collected = self.slot.expect(COLLECTED)
        entries = []
        while data:
            magic, reason, path_len, mode, data_len = ARTIFACT_HEAD.unpack_from(data)
            assert magic == MAGIC
            data = data[ARTIFACT_HEAD.size:]
            entries.append((REASONS[reason], data[:path_len], mode, data[path_len:path_len + data_len]))
            data = data[path_len + data_len:]
        return entries

    def drop(self):
        send(self.slot.sock, pack(WORKER_DROP, self.slot.index, self.slot.sequence))
        if self.ended is None:
            self.wait_ended()
        dropped = self.slot.expect(DROPPED)
        self.kill()
        self.job.close()
        os.close(self.out)
        os.close(self.err)
        return dropped
