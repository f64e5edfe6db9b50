import re

NUMBER = 0

PATTERN = re.compile(r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z]{2,})+$")

addresses = [
    "ann@example.com",
    "bob.smith+tag@mail.example.org",
    "no-at-sign.example.com",
    "two@@example.com",
    f"user{NUMBER}@host{NUMBER % 7}.example",
    "trailing@dot.",
    "under_score@example.co.uk",
]


def check(address):
    if not PATTERN.match(address):
        return "invalid"
    user, _, host = address.partition("@")
    if len(user) > 64:
        return "user too long"
    return f"ok ({host.split('.')[-1]})"


results = {address: check(address) for address in addresses}
width = max(map(len, results))
for address, verdict in results.items():
    print(f"{address:<{width}}  {verdict}")
good = [address for address, verdict in results.items() if verdict.startswith("ok")]
print(f"{len(good)} of {len(addresses)} are valid")
