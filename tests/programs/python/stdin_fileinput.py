# args: - extra.txt
# stdin: from stdin\nsecond\n
import fileinput

with open("extra.txt", "w") as file:
    file.write("from a file\n")
for line in fileinput.input():
    print(fileinput.filename(), fileinput.lineno(), fileinput.filelineno(), line, end="")
for line in fileinput.input(["extra.txt"], inplace=True):
    print(line.upper(), end="")
print(open("extra.txt").read())
