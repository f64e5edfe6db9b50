"""A notebook over a session: cells share variables, a cell can be undone, and two ways can begin in one state."""

import ced


class Notebook:
    """Cells as Jupyter has them, with a state after each to which one can go back."""

    def __init__(self, client):
        self.session = client.session(states=16)
        self.states = [self.session.state]

    def cell(self, code, **params):
        result = self.session.run(code, display=True, **params)
        self.states.append(self.session.state)
        shown = [item.data["text/plain"] for item in result.display] + result.text.splitlines()
        print(f"[{len(self.states) - 1}] {code!r}", *shown, *([] if result.ok else [result.reason]), sep="\n    ")

    def undo(self):
        """Forgets the last cell."""
        self.states.pop()
        self.session.rollback(self.states[-1])

    def fork(self, number, code):
        """Runs a cell as if it stood after the cell with this number."""
        self.cell(code, from_=self.states[number])


with ced.Client() as client:
    book = Notebook(client)
    with book.session:
        book.cell("prices = {'tea': 3, 'cake': 5}")
        book.cell("prices['tea'] *= 100; prices")
        book.undo()
        book.cell("prices")
        book.cell("dear = {k: v + 1 for k, v in prices.items()}; sum(dear.values())")
        book.fork(1, "cheap = {k: v - 1 for k, v in prices.items()}; sum(cheap.values())")
        book.cell("'dear' in globals(), 'cheap' in globals()")
        book.cell("prices.clear()\nwhile True: pass", limits={"wall_ms": 500})
        book.cell("prices")
