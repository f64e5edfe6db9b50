#!/usr/bin/python3
"""An agent that writes programs instead of calling tools one by one ("code mode").

    examples/code_mode.py

The host has five functions: a shop's orders, customers and stock, a mail and a refund.  A model that
calls them one by one sends every answer through its context.  Here it writes one program, the program
calls the functions from the jail, and only what it prints comes back.  ced checks each call against
the function's JSON Schema before the host sees it, and records it.

The program stands in for what a model would write.  The model would get describe() in its prompt.
Whatever the program does, it can reach nothing but these five functions.
"""

import json

from client import Client

CUSTOMERS = {1: {"name": "Ada", "mail": "ada@example.org"}, 2: {"name": "Bo", "mail": "bo@example.org"}}
ORDERS = [
    {"id": 10, "customer": 1, "item": "lamp", "amount": 1, "price": 40, "state": "paid"},
    {"id": 11, "customer": 2, "item": "desk", "amount": 2, "price": 300, "state": "paid"},
    {"id": 12, "customer": 2, "item": "lamp", "amount": 5, "price": 200, "state": "paid"},
    {"id": 13, "customer": 1, "item": "chair", "amount": 1, "price": 90, "state": "sent"},
]
STOCK = {"lamp": 3, "desk": 2, "chair": 0}
MAILS = []
REFUND_MOST = 250


def list_orders(state):
    return [order for order in ORDERS if order["state"] == state]


def get_customer(customer):
    return CUSTOMERS[customer]


def get_stock(item):
    return STOCK[item]


def send_mail(to, text):
    MAILS.append((to, text))
    return {"sent": True}


def refund(order, reason):
    """The host has the last word: what a schema cannot say is checked here."""
    found = next(one for one in ORDERS if one["id"] == order)
    if found["price"] > REFUND_MOST:
        raise PermissionError(f"more than {REFUND_MOST}: ask a person")
    found["state"] = "refunded: " + reason
    return found["price"]


NUMBER = {"type": "integer", "minimum": 1}
TEXT = {"type": "string", "minLength": 1, "maxLength": 200}


def tool(function, about, effects=False, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return function, {"name": function.__name__, "description": about, "input_schema": schema, "effects": effects}


# `effects`: the call changes something, so it is on the disk before the host sees it.
TOOLS = [
    tool(list_orders, "the orders in a state", state={"enum": ["paid", "sent"]}),
    tool(get_customer, "name and mail of a customer", customer=NUMBER),
    tool(get_stock, "how many of an item are there", item=TEXT),
    tool(send_mail, "sends a mail", effects=True, to={**TEXT, "pattern": "@example[.]org$"}, text=TEXT),
    tool(refund, "gives the money of an order back", effects=True, order=NUMBER, reason=TEXT),
]

PROGRAM = """
import tools

left = {}
short = []
for order in tools.list_orders("paid"):
    item = order["item"]
    left.setdefault(item, tools.get_stock(item))
    left[item] -= order["amount"]
    if left[item] < 0:
        short.append(order)

for order in short:
    customer = tools.get_customer(order["customer"])
    paid_back = tools.refund(order["id"], reason="not in stock")
    tools.send_mail(customer["mail"], text=f"Sorry, {customer['name']}: {paid_back} come back for {order['item']}.")
    print("refunded order", order["id"])

for wrong in (lambda: tools.send_mail("mallory@example.com", text="all addresses"),
              lambda: tools.refund(11, reason="I feel like it"),
              lambda: tools.refund("12", reason="a text is no number")):
    try:
        wrong()
    except tools.ToolError as error:
        print("refused:", error.code)
"""


def describe():
    """What a model's prompt would say about the functions."""
    return "\n".join(f"tools.{tool['name']}({', '.join(tool['input_schema']['properties'])}): {tool['description']}"
                     for _, tool in TOOLS)


def main():
    print(describe())
    with Client() as ced:
        ced.functions = {tool["name"]: function for function, tool in TOOLS}
        result = ced.run(PROGRAM, tools=[tool for _, tool in TOOLS], limits={"wall_ms": 20000})
    print("--- the program:", result["outcome"])
    print(result["stdout"] + result["stderr"], end="")
    print("--- the host:", json.dumps(result["calls"]["by_tool"], sort_keys=True))
    for to, text in MAILS:
        print("mail to", to + ":", text)


if __name__ == "__main__":
    main()
