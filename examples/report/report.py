"""Data in, a chart and a table out, as one HTML page. What a program displays is hostile: it is escaped or an image."""

import base64
import html
import pathlib

import ced

DATA = "month,city,sold\n1,Oslo,120\n2,Oslo,80\n3,Oslo,200\n1,Rome,90\n2,Rome,165\n3,Rome,150\n"
PROGRAM = """
import matplotlib.pyplot as plt
import pandas as pd

sales = pd.read_csv("sales.csv")
sales.pivot(index="month", columns="city", values="sold").plot.bar(title="Sold <per> month")
plt.show()
sales.groupby("city", as_index=False)["sold"].sum()
"""
TABLE = "application/vnd.ced.table+json"


def table(data):
    """A table of pandas, as HTML of our own making."""
    rows = [("th", data["columns"])] + [("td", row) for row in data["rows"]]
    cells = ["".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in row) for tag, row in rows]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def picture(png):
    """An image cannot run scripts."""
    return f'<img src="data:image/png;base64,{base64.b64encode(png).decode()}">'


result = ced.run(PROGRAM, "python-data", files={"sales.csv": DATA}, display=True,
                 limits={"wall_ms": 20000, "cpu_ms": 20000})
parts = []
for item in result.display:
    if TABLE in item.data:
        parts.append(table(item.data[TABLE]))
    elif "image/png" in item.data:
        parts.append(picture(item.data["image/png"]))
    print("main" if item.main else "also", *sorted(item.data))
pathlib.Path("report.html").write_text("<!doctype html><meta charset=utf-8>" + "\n".join(parts), encoding="utf-8")
print(result.outcome, parts[-1])
