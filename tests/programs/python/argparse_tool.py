# args: --count 3 -v -v --mode fast first 'second one' --ratio=0.5
import argparse

parser = argparse.ArgumentParser(prog="tool", description="A tool.")
parser.add_argument("names", nargs="+", help="what to work on")
parser.add_argument("--count", "-c", type=int, default=1, metavar="N")
parser.add_argument("-v", "--verbose", action="count", default=0)
parser.add_argument("--mode", choices=["fast", "slow"], default="slow")
parser.add_argument("--ratio", type=float)
options = parser.parse_args()
print(options)
parser.print_help()
for name in options.names:
    print(name * options.count)
