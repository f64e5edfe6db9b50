#!/usr/bin/python3
"""Tools: a program in the jail calls functions of this process, which has what the program must not have.

    examples/tools.py
"""

from client import Client

STOCK = {"bolts": 120, "nuts": 7}


def stock(item):
    return {"item": item, "left": STOCK[item]}


def order(item, amount):
    STOCK[item] += amount
    return stock(item)


ITEM = {"type": "string", "maxLength": 40}
TOOLS = [
    {
        "name": "stock",
        "description": "how many of an item are left",
        "input_schema": {"type": "object", "properties": {"item": ITEM}, "required": ["item"]},
    },
    {
        "name": "order",
        "description": "orders more of an item",
        "effects": True,  # each call is on the disk before this process sees it
        "input_schema": {
            "type": "object",
            "properties": {"item": ITEM, "amount": {"type": "integer", "minimum": 1}},
            "required": ["item", "amount"],
        },
    },
]

PROGRAM = """
import tools

for item in "bolts", "nuts", "glue":
    try:
        left = tools.stock(item)["left"]
        if left < 10:
            left = tools.order(item, amount=50)["left"]
        print(item, left)
    except tools.ToolError as error:
        print(item, error.code, error.message)
"""


def main():
    with Client() as ced:
        ced.functions = {"stock": stock, "order": order}
        result = ced.run(PROGRAM, tools=TOOLS)
    print(result["stdout"] + result["stderr"], end="")
    print(result["outcome"], result["calls"]["by_tool"])


if __name__ == "__main__":
    main()
