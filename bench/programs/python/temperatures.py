import statistics
from collections import namedtuple

NUMBER = 0

Reading = namedtuple("Reading", "station day celsius")
readings = [
    Reading(station, day, 10 + (index * 5 + day * 3 + NUMBER) % 17 / 2)
    for index, station in enumerate(["A1", "B7", "C3"])
    for day in range(14)
]


def fahrenheit(celsius):
    return celsius * 9 / 5 + 32


def moving_average(values, width):
    return [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]


for station in sorted({reading.station for reading in readings}):
    values = [reading.celsius for reading in readings if reading.station == station]
    smooth = moving_average(values, 3)
    print(
        f"{station}: mean {statistics.mean(values):.2f} C ({fahrenheit(statistics.mean(values)):.1f} F)",
        f"low {min(values)} high {max(values)} spread {statistics.pstdev(values):.2f}",
    )
    print("   ", " ".join(f"{value:.1f}" for value in smooth))
hottest = max(readings, key=lambda reading: (reading.celsius, reading.station))
print("hottest:", hottest._asdict())
