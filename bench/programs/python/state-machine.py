from enum import Enum, auto

NUMBER = 0


class State(Enum):
    DRAFT = auto()
    REVIEW = auto()
    APPROVED = auto()
    PUBLISHED = auto()
    REJECTED = auto()


MOVES = {
    (State.DRAFT, "submit"): State.REVIEW,
    (State.REVIEW, "approve"): State.APPROVED,
    (State.REVIEW, "reject"): State.REJECTED,
    (State.REJECTED, "edit"): State.DRAFT,
    (State.APPROVED, "publish"): State.PUBLISHED,
}


class Document:
    def __init__(self, title):
        self.title = title
        self.state = State.DRAFT
        self.history = [self.state]

    def send(self, event):
        try:
            self.state = MOVES[self.state, event]
        except KeyError:
            raise ValueError(f"{self.title}: cannot {event} while {self.state.name.lower()}") from None
        self.history.append(self.state)


events = ["submit", "reject", "edit", "submit", "approve", "submit", "publish"]
for i in range(3):
    document = Document(f"doc-{i + NUMBER % 10}")
    for event in events[: 4 + i * 2]:
        try:
            document.send(event)
        except ValueError as error:
            print("refused:", error)
    print(document.title, " > ".join(state.name for state in document.history))
reachable = {State.DRAFT}
while True:
    more = {to for (frm, _), to in MOVES.items() if frm in reachable} - reachable
    if not more:
        break
    reachable |= more
print(sorted(state.name for state in reachable))
