from datetime import datetime, timedelta

NUMBER = 0

base = datetime(2024, 5, 6, 8, 0)
meetings = [
    (f"m{i}", base + timedelta(minutes=(i * 47 + NUMBER) % 480), timedelta(minutes=20 + i * 13 % 50)) for i in range(12)
]
meetings.sort(key=lambda meeting: meeting[1] + meeting[2])

chosen = []
free = base
for name, begin, length in meetings:
    if begin >= free:
        chosen.append((name, begin, begin + length))
        free = begin + length
for name, begin, end in chosen:
    print(f"{name:4} {begin:%H:%M} - {end:%H:%M} ({(end - begin).seconds // 60} min)")

gaps = [(a[2], b[1]) for a, b in zip(chosen, chosen[1:]) if b[1] - a[2] >= timedelta(minutes=30)]
print("gaps:", ", ".join(f"{a:%H:%M} to {b:%H:%M}" for a, b in gaps) or "none")
print("busy:", sum((end - begin for _, begin, end in chosen), timedelta()))
