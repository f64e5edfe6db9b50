from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation, localcontext

prices = [Decimal(x) for x in ("19.99", "0.10", "1e3", "-0.005")]
print(sum(prices), [str(p.quantize(Decimal("0.01"), ROUND_HALF_UP)) for p in prices])
print(Decimal("2.675").quantize(Decimal("0.01"), ROUND_HALF_EVEN), Decimal(2.675))
with localcontext() as context:
    context.prec = 60
    print(Decimal(2).sqrt(), Decimal(1) / 7, Decimal(1).exp())
print(Decimal("1.10") == Decimal("1.1"), hash(Decimal("1.10")) == hash(Decimal("1.1")), f"{Decimal('1234567.891'):,.2f}")
print(Decimal("NaN"), Decimal("-Infinity"), Decimal("0E-7"), Decimal("123").as_tuple())
for wrong in "1,5", "":
    try:
        Decimal(wrong)
    except InvalidOperation as error:
        print(type(error).__name__, error)
try:
    Decimal(1) / 0
except ZeroDivisionError as error:
    print(type(error).__name__, error)
