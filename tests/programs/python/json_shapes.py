import datetime
import json
from decimal import Decimal


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, datetime.date):
            return o.isoformat()
        if isinstance(o, set):
            return sorted(o)
        return super().default(o)


data = {"ä": [1, 2.5, None, True, "x\u2028\ud83d\ude00"], "day": datetime.date(2024, 2, 29), "s": {3, 1, 2}}
print(json.dumps(data, cls=Encoder, indent=2, sort_keys=True))
print(json.dumps(data["ä"][:4], separators=(",", ":")), json.dumps(float("inf")))
print(json.loads('{"n": 0.1, "big": 123456789012345678901234567890}', parse_float=Decimal))
for bad in '{"a": }', "[1,]", '"\x01"', "", "nul":
    try:
        json.loads(bad)
    except json.JSONDecodeError as error:
        print(error.msg, error.lineno, error.colno, error)
try:
    json.dumps({"x": object})
except TypeError as error:
    print(error)
