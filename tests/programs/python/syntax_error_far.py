print("this never runs")
data = {
    "a": [1, 2, 3,
    "b": 4,
}
