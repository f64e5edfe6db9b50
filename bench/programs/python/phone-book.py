import argparse
import json
import shlex

NUMBER = 0

parser = argparse.ArgumentParser(prog="book", exit_on_error=False)
commands = parser.add_subparsers(dest="command", required=True)
add = commands.add_parser("add", help="adds a number")
add.add_argument("name")
add.add_argument("number")
add.add_argument("--tag", action="append", default=[])
find = commands.add_parser("find")
find.add_argument("text")
find.add_argument("-n", "--most", type=int, default=10)
commands.add_parser("dump")

book = {}
script = f"""
add "Ann Lee" 555-{NUMBER % 10000:04} --tag work --tag friend
add Bob 555-2222
add Annette 555-3333 --tag family
find ann -n 1
find b
dump
"""
for line in script.strip().splitlines():
    options = parser.parse_args(shlex.split(line))
    if options.command == "add":
        book[options.name] = {"number": options.number, "tags": options.tag}
    elif options.command == "find":
        hits = [name for name in sorted(book) if options.text.lower() in name.lower()]
        print(hits[: options.most])
    else:
        print(json.dumps(book, indent=1))
