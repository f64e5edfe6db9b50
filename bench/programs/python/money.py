from decimal import ROUND_HALF_UP, Decimal, getcontext

NUMBER = 0

getcontext().prec = 28
CENT = Decimal("0.01")


def rounded(amount):
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def plan(loan, yearly_percent, months):
    rate = Decimal(yearly_percent) / 1200
    payment = rounded(loan * rate / (1 - (1 + rate) ** -months))
    left = loan
    for month in range(1, months + 1):
        interest = rounded(left * rate)
        paid = min(payment, left + interest)
        left = left + interest - paid
        yield month, paid, interest, left


total = Decimal(0)
for month, paid, interest, left in plan(Decimal(10000 + NUMBER % 1000), "4.9", 24):
    total += paid
    if month % 6 == 0:
        print(f"month {month:>2}: pay {paid:>8} interest {interest:>6} left {left:>9}")
print("paid in all:", total)
print("0.1 + 0.2 =", Decimal("0.1") + Decimal("0.2"), "and not", 0.1 + 0.2)
