line = "still working...\n" * 1000

while True:
    print(line)
