import configparser
import io

NUMBER = 0

text = f"""
[server]
host = 127.0.0.1
port = {8000 + NUMBER % 1000}
debug = yes

[paths]
root = /srv/app
static = %(root)s/static
logs = %(root)s/logs

[limits]
rate = 2.5
users = ann, bob, carla
"""
config = configparser.ConfigParser()
config.read_string(text)
for section in config.sections():
    print(f"[{section}]")
    for key, value in config.items(section):
        print(f"  {key} -> {value}")
print(config.getint("server", "port") + 1, config.getboolean("server", "debug"), config.getfloat("limits", "rate"))
print([user.strip() for user in config["limits"]["users"].split(",")])
try:
    config.get("limits", "missing")
except configparser.NoOptionError as error:
    print(error)
config["limits"]["rate"] = "3"
out = io.StringIO()
config.write(out)
print(len(out.getvalue().splitlines()), "lines")
