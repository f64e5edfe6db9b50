import sys

print("before")
sys.stdout.close()
try:
    print("after")
except ValueError as error:
    print("refused:", error, file=sys.stderr)
