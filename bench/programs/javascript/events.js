const NUMBER = 0;

const { EventEmitter } = require("events");

class Shop extends EventEmitter {
	order(name, amount) {
		this.emit("order", { name, amount });
		if (amount > 40) this.emit("large", name);
	}
}

const shop = new Shop();
const totals = { orders: 0, amount: 0 };
shop.on("order", ({ amount }) => {
	totals.orders++;
	totals.amount += amount;
});
shop.once("large", (name) => console.log("the first large order is of", name));
for (let i = 0; i < 8; i++) shop.order(`c${i}`, (NUMBER + i * 11) % 60);
console.log(totals.orders, shop.listenerCount("large") <= 1, shop.eventNames());
