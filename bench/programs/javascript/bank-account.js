const NUMBER = 0;

class InsufficientFunds extends Error {
	constructor(wanted, available) {
		super(`wanted ${wanted.toFixed(2)}, only ${available.toFixed(2)} available`);
		this.name = "InsufficientFunds";
	}
}

class Account {
	#balance;
	constructor(owner, balance = 0) {
		this.owner = owner;
		this.#balance = balance;
		this.history = [];
	}
	get balance() {
		return this.#balance;
	}
	deposit(amount) {
		if (amount <= 0) throw new RangeError("a deposit must be positive");
		this.#balance += amount;
		this.history.push(["deposit", amount]);
	}
	withdraw(amount) {
		if (amount > this.#balance) throw new InsufficientFunds(amount, this.#balance);
		this.#balance -= amount;
		this.history.push(["withdraw", amount]);
	}
}

const accounts = [new Account("Ann", 100 + (NUMBER % 50)), new Account("Bob", 300)];
for (const account of accounts) {
	account.deposit(50);
	try {
		account.withdraw(260);
	} catch (error) {
		console.log(account.owner, `${error}`);
	}
}
console.log(accounts.map(({ owner, balance, history }) => ({ owner, balance, steps: history.length })));
