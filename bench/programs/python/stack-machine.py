NUMBER = 0


class Halt(Exception):
    pass


class Machine:
    def __init__(self, program):
        self.program = program
        self.stack = []
        self.names = {}
        self.at = 0
        self.steps = 0

    def run(self):
        try:
            while True:
                operation, *arguments = self.program[self.at]
                self.at += 1
                self.steps += 1
                getattr(self, "do_" + operation)(*arguments)
        except Halt:
            return self.names

    def do_push(self, value):
        self.stack.append(value)

    def do_add(self):
        b, a = self.stack.pop(), self.stack.pop()
        self.stack.append(a + b)

    def do_multiply(self):
        b, a = self.stack.pop(), self.stack.pop()
        self.stack.append(a * b)

    def do_store(self, name):
        self.names[name] = self.stack.pop()

    def do_load(self, name):
        self.stack.append(self.names[name])

    def do_jump_if(self, target):
        if self.stack.pop():
            self.at = target

    def do_halt(self):
        raise Halt


program = [
    ("push", 10), ("store", "n"), ("push", 1), ("store", "result"),
    ("load", "result"), ("load", "n"), ("multiply",), ("store", "result"),
    ("load", "n"), ("push", -1), ("add",), ("store", "n"),
    ("load", "n"), ("jump_if", 4), ("push", NUMBER), ("store", "number"), ("halt",),
]
machine = Machine(program)
print(machine.run(), "after", machine.steps, "steps")
