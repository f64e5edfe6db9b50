# args: add 2 40
import argparse

parser = argparse.ArgumentParser(prog="calc")
commands = parser.add_subparsers(dest="command", required=True)
for name, action in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b)):
    command = commands.add_parser(name)
    command.add_argument("a", type=int)
    command.add_argument("b", type=int)
    command.set_defaults(action=action)
options = parser.parse_args()
print(options.command, options.action(options.a, options.b))
import getopt
import optparse

print(getopt.gnu_getopt(["-a", "x", "--long=5", "y"], "a", ["long="]))
old = optparse.OptionParser(prog="old")
old.add_option("-n", type="int", default=3)
print(old.parse_args(["-n", "7", "rest"]))
