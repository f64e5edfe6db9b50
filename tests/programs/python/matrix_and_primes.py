def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def power(m, n):
    result = [[int(i == j) for j in range(len(m))] for i in range(len(m))]
    while n:
        if n & 1:
            result = multiply(result, m)
        m, n = multiply(m, m), n >> 1
    return result


print(power([[1, 1], [1, 0]], 300)[0][1])
sieve = bytearray([1]) * 200001
sieve[:2] = b"\0\0"
for n in range(2, 448):
    if sieve[n]:
        sieve[n * n::n] = bytes(len(range(n * n, 200001, n)))
print(sum(sieve), max(n for n in range(200001) if sieve[n]))


def mandelbrot(c):
    z = 0
    for n in range(30):
        z = z * z + c
        if abs(z) > 2:
            return n
    return 30


for y in range(-6, 7):
    print("".join(" .:-=+*#%@"[min(9, mandelbrot(complex(x / 12, y / 5)) // 3)] for x in range(-26, 13)))
