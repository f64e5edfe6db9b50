from datetime import datetime, timedelta, timezone

NUMBER = 0

zones = {"UTC": 0, "Berlin": 1, "New York": -5, "Tokyo": 9, "Kolkata": 5.5}
meeting = datetime(2024, 11, 5, 9, 30, tzinfo=timezone.utc) + timedelta(hours=NUMBER % 24)
for name, hours in zones.items():
    local = meeting.astimezone(timezone(timedelta(hours=hours), name))
    print(f"{name:<9} {local:%a %H:%M} {local.isoformat()}")

stamps = ["2024-01-31T23:59:59+00:00", "2024-02-01T01:30:00+02:00", "2024-01-31T15:00:00-09:00"]
moments = sorted(datetime.fromisoformat(stamp) for stamp in stamps)
for before, after in zip(moments, moments[1:]):
    print(after - before)
epoch = int(moments[0].timestamp())
print(epoch, datetime.fromtimestamp(epoch, timezone.utc))
