import copy
import copyreg
import io
import pickle
import shelve


class Node:
    def __init__(self, name):
        self.name, self.peers = name, []

    def __reduce__(self):
        return Node, (self.name,), {"peers": self.peers}


a, b = Node("a"), Node("b")
a.peers.append(b)
b.peers.append(a)
for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
    again = pickle.loads(pickle.dumps(a, protocol))
    print(protocol, again.name, again.peers[0].peers[0] is again)


class Slotted:
    __slots__ = "x", "y"


s = Slotted()
s.x = 1
print(pickle.loads(pickle.dumps(s)).x, copy.deepcopy(a).peers[0].name, copy.copy([a])[0] is a)
copyreg.pickle(complex, lambda c: (complex, (c.real, c.imag)))
print(pickle.loads(pickle.dumps(1 + 2j)))
try:
    pickle.dumps(lambda: 1)
except (pickle.PicklingError, AttributeError) as error:
    print(type(error).__name__, str(error)[:25])


class Careful(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name} is forbidden")


try:
    Careful(io.BytesIO(pickle.dumps(print))).load()
except pickle.UnpicklingError as error:
    print(error)
with shelve.open("shelf") as shelf:
    shelf["k"] = {"nested": [1, 2]}
with shelve.open("shelf") as shelf:
    print(dict(shelf))
