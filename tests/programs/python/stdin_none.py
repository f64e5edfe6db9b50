import select
import sys

print(repr(sys.stdin.read()), select.select([0], [], [], 0)[0])
print(list(sys.stdin))
input("a prompt without an answer: ")
