# stdin: 3\n1 2\nlast line without end
count = int(input())
a, b = map(int, input("numbers? ").split())
print(count, a + b, repr(input()))
try:
    input()
except EOFError as error:
    print("end:", error)
