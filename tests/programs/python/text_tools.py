import difflib
import pprint
import string
import textwrap

text = "The quick brown fox jumps over the lazy dog. " * 4
print(textwrap.fill(text, 40, initial_indent="* ", subsequent_indent="  "))
print(textwrap.dedent("    a\n      b\n"), textwrap.shorten(text, 30), textwrap.indent("x\ny", "> "))
print("".join(difflib.unified_diff(["one\n", "two\n"], ["one\n", "three\n"], "a", "b")))
print(difflib.get_close_matches("aple", ["apple", "ape", "maple"]), round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 3))
print(string.Template("$who likes ${what}").substitute(who="tim", what="kung pao"), string.ascii_letters[:5])
pprint.pprint({"key": list(range(30)), "other": {"nested": ["x" * 30, "y" * 30]}, 3: (1,)})
print("{0:>10}|{1!r:<8}|{name:^9}|{2:,}".format("right", "q", 1234567, name="mid"), "%-5s|%05.1f|%x" % ("a", 3.14159, 255))
value = 12.3456
print(f"{value:8.2f} {value!r} {value=:.1f} {'nested ' + str(len('ab'))} {{}} {1_000:>{8}}")
print("a,b,,c".split(","), " x ".strip(), "abc".partition("b"), "x".join("abc"), "Ab".swapcase(), "a\tb".expandtabs(4), "abc".translate({97: "X"}))
