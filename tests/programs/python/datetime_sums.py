import calendar
from datetime import date, datetime, time, timedelta, timezone

start = date(2023, 12, 30)
print([(start + timedelta(days=n)).strftime("%a %d %b %Y week %V day %j") for n in range(4)])
print(date(2024, 2, 29).replace(year=2028), (date(2024, 3, 1) - date(2023, 3, 1)).days, date.fromisocalendar(2020, 53, 7))
print(datetime.strptime("2024-05-06T07:08:09.123456+0530", "%Y-%m-%dT%H:%M:%S.%f%z").astimezone(timezone.utc))
print(datetime.fromisoformat("2024-05-06T07:08:09"), datetime.max, timedelta.max, repr(timedelta(weeks=1, microseconds=-1)))
print(time(23, 59).isoformat(), timedelta(hours=25) // timedelta(minutes=7), divmod(timedelta(1), timedelta(hours=7)))
print(calendar.month(2024, 2), calendar.monthrange(1900, 2), calendar.isleap(2000))
for wrong in (2023, 2, 29), (2024, 13, 1):
    try:
        date(*wrong)
    except ValueError as error:
        print(error)
