NUMBER = 0

VALUES = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]


def to_roman(number):
    if not 0 < number < 4000:
        raise ValueError(f"{number} has no Roman numeral")
    text = ""
    for value, symbol in VALUES:
        while number >= value:
            text += symbol
            number -= value
    return text


def from_roman(text):
    total = 0
    for value, symbol in VALUES:
        while text.startswith(symbol):
            total += value
            text = text[len(symbol):]
    if text:
        raise ValueError(f"{text!r} is left over")
    return total


for number in (1, 4, 9, 14, 40, 90, 400, 1994, 2024, NUMBER % 3999 + 1):
    roman = to_roman(number)
    assert from_roman(roman) == number
    print(f"{number:>5} {roman}")
for wrong in (0, 4000):
    try:
        to_roman(wrong)
    except ValueError as error:
        print("error:", error)
print(all(from_roman(to_roman(n)) == n for n in range(1, 500)))
