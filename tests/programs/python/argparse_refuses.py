# args: --count many
import argparse

parser = argparse.ArgumentParser(prog="tool")
parser.add_argument("--count", type=int, required=True)
print("before")
parser.parse_args()
