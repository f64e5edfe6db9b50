import calendar
from datetime import date, timedelta

NUMBER = 0

year = 2000 + NUMBER % 60
month = NUMBER % 12 + 1
print(calendar.TextCalendar(calendar.MONDAY).formatmonth(year, month))


def easter(year):
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    l = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * l) // 451
    month, day = divmod(h + l - 7 * m + 114, 31)
    return date(year, month, day + 1)


sunday = easter(year)
holidays = {"Good Friday": sunday - timedelta(2), "Easter": sunday, "Pentecost": sunday + timedelta(49)}
for name, day in holidays.items():
    print(f"{name:<12} {day:%d.%m.%Y} {day:%A}")
fridays = [date(year, m, 13) for m in range(1, 13) if date(year, m, 13).weekday() == calendar.FRIDAY]
print("Friday the 13th:", [day.strftime("%b") for day in fridays], calendar.isleap(year))
