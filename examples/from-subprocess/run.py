"""From subprocess.run to ced.run: one line changes."""

import subprocess
import sys

import ced

PROGRAM = "import sys; print(sum(range(10))); sys.exit(3)"

before = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=5)
after = ced.run(PROGRAM, limits={"wall_ms": 5000})
print("subprocess:", before.returncode, before.stdout.strip())
print("ced:       ", after.exit_code, after.stdout.strip())

for program in ("open('/etc/shadow')", "while True: print('more')", "b'x' * 10**9", "import os; os.fork()"):
    result = ced.run(program, limits={"wall_ms": 20000, "memory_bytes": 64 << 20})
    print(f"{program:25} {result.outcome}: {result.reason}")
