NUMBER = 0


class InsufficientFunds(Exception):
    def __init__(self, wanted, available):
        super().__init__(f"wanted {wanted:.2f}, only {available:.2f} available")
        self.wanted = wanted
        self.available = available


class Account:
    interest = 0.02

    def __init__(self, owner, balance=0.0):
        self.owner = owner
        self._balance = balance
        self.history = []

    @property
    def balance(self):
        return self._balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("a deposit must be positive")
        self._balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self._balance:
            raise InsufficientFunds(amount, self._balance)
        self._balance -= amount
        self.history.append(("withdraw", amount))

    def __repr__(self):
        return f"{type(self).__name__}({self.owner!r}, {self._balance:.2f})"


class Savings(Account):
    interest = 0.05

    def add_interest(self):
        self.deposit(self._balance * self.interest)


accounts = [Account("Ann", 100 + NUMBER % 50), Savings("Bob", 250)]
for account in accounts:
    account.deposit(50)
    try:
        account.withdraw(260)
    except InsufficientFunds as error:
        print(account.owner, "failed:", error)
accounts[1].add_interest()
for account in accounts:
    print(account, account.history)
