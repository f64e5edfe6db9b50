from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

meeting = datetime(2024, 3, 31, 0, 30, tzinfo=timezone.utc)
for name in "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Chatham", "Africa/Casablanca", "UTC":
    zone = ZoneInfo(name)
    for hours in 0, 1, 2:
        there = (meeting + timedelta(hours=hours)).astimezone(zone)
        print(name, there.isoformat(), there.tzname(), there.dst())
fold = datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
print(fold.utcoffset(), fold.replace(fold=1).utcoffset(), fold.replace(fold=1).timestamp() - fold.timestamp())
print(len(available_timezones()) > 400, "Europe/Rome" in available_timezones())
try:
    ZoneInfo("Mars/Olympus")
except ZoneInfoNotFoundError as error:
    print(error)
