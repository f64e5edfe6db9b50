from datetime import date, datetime, timedelta

NUMBER = 0


def working_days(first, last):
    day = first
    count = 0
    while day <= last:
        if day.weekday() < 5:
            count += 1
        day += timedelta(days=1)
    return count


start = date(2024, 1, 1) + timedelta(days=NUMBER % 365)
end = start + timedelta(weeks=9, days=3)
print("from", start.isoformat(), "to", end.strftime("%d %B %Y"))
print("days:", (end - start).days, "working days:", working_days(start, end))
for text in ("2024-02-29 13:45", "2023-11-05 00:00", "1999-12-31 23:59"):
    moment = datetime.strptime(text, "%Y-%m-%d %H:%M")
    print(moment.strftime("%A"), moment.isocalendar()[1], (moment + timedelta(hours=36)).isoformat())
