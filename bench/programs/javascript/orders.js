const NUMBER = 0;

const customers = ["Ada", "Grace", "Edsger"];
const orders = Array.from({ length: 20 }, (_, i) => ({
	customer: customers[(i + NUMBER) % 3],
	item: `item-${i % 5}`,
	quantity: (i % 4) + 1,
	price: 5.25 + ((NUMBER + i) % 9),
}));

const totals = new Map();
for (const { customer, quantity, price } of orders)
	totals.set(customer, (totals.get(customer) ?? 0) + quantity * price);
const report = [...totals].map(([name, total]) => ({ name, total: +total.toFixed(2) }));
report.sort((a, b) => b.total - a.total);
console.log(JSON.stringify(report, null, 2));
console.log(orders.filter((order) => order.quantity > 2).length);
