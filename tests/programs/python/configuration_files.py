import configparser
import io
import plistlib
import shlex

text = "[DEFAULT]\nhome = /srv\n[web]\nport = 8080\nroot = %(home)s/www\ndebug = yes\n[empty]\n"
parser = configparser.ConfigParser()
parser.read_string(text)
print(parser.sections(), dict(parser["web"]), parser.getint("web", "port"), parser.getboolean("web", "debug"))
parser["new"] = {"a": "1"}
out = io.StringIO()
parser.write(out)
print(out.getvalue())
for call in lambda: parser.get("web", "none"), lambda: parser.read_string("no section\n"):
    try:
        call()
    except configparser.Error as error:
        print(type(error).__name__, error)
try:
    import tomllib
    print(tomllib.loads("a = 1\n[b]\nc = [1.5, 'x']\nwhen = 2024-01-01T00:00:00Z"))
except ImportError:
    print("no tomllib")
print(plistlib.loads(plistlib.dumps({"a": [1, b"x"]})), shlex.split("a 'b c' \"d\\\"e\""), shlex.join(["a b", "c"]))
