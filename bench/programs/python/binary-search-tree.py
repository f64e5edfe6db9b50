NUMBER = 0


class Node:
    __slots__ = ("key", "left", "right")

    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


class Tree:
    def __init__(self, keys=()):
        self.root = None
        for key in keys:
            self.insert(key)

    def insert(self, key):
        if self.root is None:
            self.root = Node(key)
            return
        node = self.root
        while True:
            side = "left" if key < node.key else "right"
            child = getattr(node, side)
            if child is None:
                setattr(node, side, Node(key))
                return
            node = child

    def __iter__(self):
        def walk(node):
            if node:
                yield from walk(node.left)
                yield node.key
                yield from walk(node.right)

        return walk(self.root)

    def height(self):
        def measure(node):
            return 1 + max(measure(node.left), measure(node.right)) if node else 0

        return measure(self.root)

    def __contains__(self, key):
        node = self.root
        while node and node.key != key:
            node = node.left if key < node.key else node.right
        return node is not None


keys = [(i * 37 + NUMBER) % 101 for i in range(40)]
tree = Tree(keys)
print(list(tree) == sorted(keys), tree.height())
print([key for key in range(0, 101, 10) if key in tree])
