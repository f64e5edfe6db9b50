rows = []

while True:
    rows.append(bytearray(1_000_000))
