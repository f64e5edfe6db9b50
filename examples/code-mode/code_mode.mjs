// Code mode: the model writes one program that calls three tools. A person approves each refund.
import { Client } from "ced";

const orders = [
	{ order: 10, item: "lamp", amount: 1, price: 40 },
	{ order: 11, item: "desk", amount: 2, price: 300 },
	{ order: 12, item: "lamp", amount: 5, price: 200 },
];
const stock = { lamp: 3, desk: 2 };
const object = (properties) => ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false });
const tools = {
	list_orders: { description: "all paid orders", input: object({}), run: () => orders },
	in_stock: {
		description: "how many of an item there are",
		input: object({ item: { enum: Object.keys(stock) } }),
		run: ({ item }) => stock[item],
	},
	refund: {
		description: "gives the money of an order back",
		input: object({ order: { type: "integer" }, reason: { type: "string", maxLength: 200 } }),
		effects: true, // each call is on the disk before this function sees it
		run: ({ order }) => orders.find((each) => each.order === order).price,
	},
};
const program = `
import tools
left = {}
for order in tools.list_orders():
    item = order["item"]
    left[item] = left.get(item, tools.in_stock(item)) - order["amount"]
    if left[item] < 0:
        print("refunded", tools.refund(order["order"], reason=f"{item}: {-left[item]} too few"))
try:
    tools.refund("12", reason="a text is no number")
except tools.ToolError as error:
    print(error.code, error.message)
`;

const client = new Client();
const onParked = ({ run_id, call, tool }) => console.log(`${tool} waits: cectl approve ${run_id} --call ${call}`);
const result = await client.run(program, { tools, policy: "refunds", agent: "shop", onParked });
console.log(result.stdout + result.reason);
console.log("calls", JSON.stringify(result.calls?.by_tool));
client.close();
