import re

NUMBER = 0

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|(.))")


def tokens(text):
    for number, operator in TOKEN.findall(text):
        yield ("number", float(number)) if number else ("operator", operator)
    yield ("end", None)


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)
        self.advance()

    def advance(self):
        self.kind, self.value = next(self.tokens)

    def expression(self):
        result = self.term()
        while self.value in ("+", "-"):
            operator = self.value
            self.advance()
            right = self.term()
            result = result + right if operator == "+" else result - right
        return result

    def term(self):
        result = self.factor()
        while self.value in ("*", "/"):
            operator = self.value
            self.advance()
            right = self.factor()
            result = result * right if operator == "*" else result / right
        return result

    def factor(self):
        if self.value == "-":
            self.advance()
            return -self.factor()
        if self.value == "(":
            self.advance()
            result = self.expression()
            if self.value != ")":
                raise SyntaxError("expected )")
            self.advance()
            return result
        if self.kind != "number":
            raise SyntaxError(f"unexpected {self.value!r}")
        result = self.value
        self.advance()
        return result


for text in ("1 + 2 * 3", "(1 + 2) * 3", f"-{NUMBER % 9 + 1} + 10 / 4", "2 * (3 + 4) * 5", "2 + * 3", "(1"):
    try:
        print(f"{text} = {Parser(text).expression():g}")
    except (SyntaxError, ZeroDivisionError) as error:
        print(f"{text}: {type(error).__name__}: {error}")
