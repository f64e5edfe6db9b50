import sys

for n in range(20000):
    print(n, "x" * (n % 40))
sys.stderr.write("e" * 50000 + "\n")
sys.stdout.buffer.write(bytes(range(32, 127)) * 100)
