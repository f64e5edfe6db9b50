"""/dev/stdin, /dev/stdout, /dev/stderr and /dev/fd in every jail, which give access to nothing else."""

from wire import Client, done, eq, ok

client = Client()
INPUT = "one\ntwo\n"


def run(language, code, **params):
    if params.setdefault("stdin", INPUT) == "":
        del params["stdin"]
    return client.call("run", language=language, code=code, **params)


def prints(language, code, stdout, name, stderr="", **params):
    result = run(language, code, **params)
    eq((result["outcome"], result["stdout"], result["stderr"]), ("ok", stdout, stderr), name)


# ---- Python --------------------------------------------------------------------------------------

prints("python", "print(open('/dev/stdin').read(), end='')", INPUT, "open() reads /dev/stdin")
prints("python", "import pathlib; print(pathlib.Path('/dev/stdin').read_text(), end='')", INPUT, "so does pathlib")
prints("python", "import os; fd = os.open('/dev/fd/0', os.O_RDONLY); print(os.read(fd, 99))", f"{INPUT.encode()!r}\n",
       "os.open() reads /dev/fd/0")
prints("python", "print(open('/proc/self/fd/0').read(), end='')", INPUT, "the name below /proc means the same")
prints("python", "open('/dev/stdout', 'w').write('out')\nopen('/dev/stderr', 'a').write('err')", "out",
       "stdout and stderr can be written by name", "err")
prints("python", "print(repr(open('/dev/stdin').read()))", "''\n", "without stdin it is empty", stdin="")
prints("python", "import os, sys\nprint([os.path.exists('/dev/' + n) for n in ('stdin', 'stdout', 'stderr', 'fd/2', 'fd/99')],"
       " os.access('/dev/stdout', os.R_OK), os.access('/dev/stdout', os.W_OK))", "[True, True, True, True, False] False True\n",
       "who asks whether they are there is told")
prints("python", "with open('/dev/stdin') as f: f.readline()\nprint(open('main.py').read(4), open('/dev/null').read())",
       "with \n", "other names mean what they meant")

# ---- node ----------------------------------------------------------------------------------------

prints("javascript", "process.stdout.write(require('fs').readFileSync('/dev/stdin', 'utf8'))", INPUT,
       "readFileSync() reads /dev/stdin")
prints("javascript", "process.stdout.write(require('fs').readFileSync('/dev/stdin'))", INPUT, "and bytes of it")
prints("javascript", "require('fs').promises.readFile('/dev/stdin', 'utf8').then(t => process.stdout.write(t))", INPUT,
       "so does fs.promises")
prints("javascript", "require('fs').createReadStream('/dev/stdin').pipe(process.stdout)", INPUT, "so does a stream")
prints("javascript", "const fs = require('fs'); fs.writeFileSync('/dev/stdout', 'out'); fs.appendFileSync('/dev/stderr', 'err');"
       "if (!fs.existsSync('/dev/stdin')) throw 1", "out", "stdout and stderr can be written by name", "err")

# ---- bash ----------------------------------------------------------------------------------------

prints("bash", "cat /dev/stdin", INPUT, "cat reads /dev/stdin")
prints("bash", "read -r line < /dev/stdin; echo \"<$line>\"; cat", "<one>\ntwo\n", "a redirection reads it, and shares its place")
prints("bash", "echo out > /dev/stdout; echo err > /dev/stderr; echo more >> /dev/stderr", "out\n", "redirections write", "err\nmore\n")
prints("bash", "cat <(echo sub; echo stitution)", "sub\nstitution\n", "process substitution gives a name")
prints("bash", "while read -r line; do echo \"<$line>\"; done < <(printf 'a\\nb\\n')", "<a>\n<b>\n", "that can be redirected from")
prints("bash", "paste <(seq 2) <(seq 3 4); comm -12 <(printf 'a\\nb\\n') <(printf 'b\\nc\\n')", "1\t3\n2\t4\nb\n",
       "two of them go to one command")
prints("bash", "seq 3 | tee >(wc -l > count; mv count counted) > /dev/null\nuntil [[ -e counted ]]; do :; done\ncat counted", "3\n",
       "and it can be written to")
prints("bash", "[[ -r /dev/stdin && -e /dev/stdout && -e /dev/fd/2 && ! -e /dev/fd/77 ]] && echo there", "there\n",
       "the shell's questions are answered")
result = run("bash", "env; env -i cat /dev/stdin")
ok("LD_PRELOAD" not in result["stdout"] and result["stdout"].endswith(INPUT),
   "nothing of it is in the environment, and it needs none", result["stdout"])

# ---- under a policy ------------------------------------------------------------------------------

prints("bash", "read -r line < /dev/stdin; echo \"<$line>\" > /dev/stderr", "", "strict lets a shell use the names that it allows",
       "<one>\n", policy="strict")

# ---- and no more ---------------------------------------------------------------------------------

LOOK = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for path in "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd", "/proc/self/fd/0", "/proc/self", "/proc":
    fd = libc.syscall(257, -100, path.encode(), 0, 0)
    if fd >= 0 and os.listdir(fd): print("the kernel knows", path)
"""
prints("python", LOOK, "", "the kernel knows none of these names: no procfs, no device")
prints("python", """
import os
ours = set()
for number in range(64):
    try: ours.add(os.fstat(number)[1:3])
    except OSError: pass
for number in range(1024):
    try: fd = os.open(f"/dev/fd/{number}", os.O_RDONLY)
    except OSError:
        try: fd = os.open(f"/dev/fd/{number}", os.O_WRONLY)
        except OSError: continue
    if os.fstat(fd)[1:3] not in ours: print("something new:", number)
    os.close(fd)
""", "", "a name leads to nothing that the program has not open already")
prints("python", """
import os
plain = os.open("main.py", os.O_RDONLY)
for number, flags in (1, os.O_RDONLY), (1, os.O_RDWR), (plain, os.O_WRONLY), (plain, os.O_RDWR):
    try: os.open(f"/dev/fd/{number}", flags)
    except PermissionError: continue
    print("opened", number, flags)
system = os.open("/usr/lib/os-release", os.O_RDONLY)
for name in f"/dev/fd/{system}", f"/proc/self/fd/{system}":
    try: os.open(name, os.O_RDWR)
    except PermissionError: continue
    print("opened", name)
""", "", "what is open for reading cannot be opened for writing, nor the other way round")
prints("python", """
import os
for name in "/dev/fd/-1", "/dev/fd/", "/dev/fd/0/", "/dev/fd/0x0", "/dev/fd/00000000", "/dev/fd/4294967296", "/dev/stdin/", \\
        "/dev/fd/../fd/0", "/dev//stdin", "dev/stdin", "/dev/stdin2", "/dev/fd/0/../0", "/proc/self/mem", "/proc/1/fd/0", \\
        "/proc/self/maps", "/proc/self/fd/cwd", "/proc/self/environ":
    try: os.open(name, os.O_RDONLY)
    except OSError: continue
    print("opened", name)
""", "", "nothing like these names is a name of theirs")
HARM = """
for file in /ced/ced-libc.so /etc/ld.so.preload; do
	[[ -r $file ]] || echo "no $file"
	(echo x > $file) 2>/dev/null && echo "wrote $file"
	rm -f $file 2>/dev/null && echo "removed $file"
	mv -f $file /work/ 2>/dev/null && echo "moved $file"
	mv -f main.sh $file 2>/dev/null && echo "replaced $file"
done
ls /ced
"""
prints("bash", HARM, "ced-libc.so\n",
       "the library that does it can be read, and not changed")
result = run("bash", "cp /ced/ced-libc.so /work/own.so; LD_PRELOAD=/work/own.so cat /dev/null")
ok("cannot be preloaded" in result["stderr"], "no program loads a library of its own before others", result["stderr"])
done()
