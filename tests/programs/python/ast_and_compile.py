import ast
import dis
import io
import symtable
import tokenize

tree = ast.parse("def f(a, *b, c=1, **d):\n    '''doc'''\n    return [x async for x in a] if c else (y := 3)\n")
print(ast.dump(tree, indent=1)[:600])


class Rename(ast.NodeTransformer):
    def visit_Name(self, node):
        return ast.copy_location(ast.Name(node.id.upper(), node.ctx), node)


print(ast.unparse(Rename().visit(tree)))
print(ast.literal_eval("{'a': [1, -2.5, (None, True)], 'b': {1, 2}}"))
scope = {}
exec(compile(ast.parse("def g(n): return n * 2"), "<made>", "exec"), scope)
print(scope["g"](21), eval("sum(range(5))", {"sum": sum, "range": range}))
for token in tokenize.generate_tokens(io.StringIO("x = f'{1}' # c\n").readline):
    print(tokenize.tok_name[token.type], repr(token.string))
table = symtable.symtable("def f():\n  global x\n  y = x", "t", "exec")
print([s.get_name() for s in table.get_children()[0].get_symbols()])
print([i.opname for i in dis.get_instructions(compile("1 if a else 2", "", "eval"))][0:1] != [])
for wrong in "os.system('x')", "a b", "__import__('x')":
    try:
        ast.literal_eval(wrong)
    except (ValueError, SyntaxError) as error:
        print(type(error).__name__, str(error).split(" at 0x")[0])
