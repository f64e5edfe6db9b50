# env: TZ=America/Sao_Paulo
import time
from datetime import datetime

print(time.tzname, time.timezone, time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(1700000000)))
print(datetime.fromtimestamp(1700000000).isoformat(), datetime.fromtimestamp(0).astimezone().isoformat())
print(time.mktime((2024, 7, 1, 0, 0, 0, 0, 0, -1)))
