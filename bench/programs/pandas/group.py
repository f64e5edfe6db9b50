import pandas as pd

NUMBER = 0

rows = [
    {"city": city, "month": month, "sales": (month * 37 + len(city) * 11 + NUMBER) % 101}
    for city in ("Berlin", "Hamburg", "Bremen", "Kiel")
    for month in range(1, 13)
]
table = pd.DataFrame(rows)
print(table.groupby("city")["sales"].agg(["sum", "mean", "max"]).round(1))
print(table.pivot_table(index="month", columns="city", values="sales").head(3))
