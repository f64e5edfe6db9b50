import sys

print("plain", 1, None, [1.5], sep=" | ", end="<end>\n")
sys.stdout.write("written\r\n")
sys.stdout.buffer.write("bytes ü\n".encode())
sys.stdout.flush()
print("to stderr", file=sys.stderr)
sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
print("surrogate \ud800 shown")
print("\x1b[31mred\x1b[0m \a \0 tab\tend")
sys.stdout.writelines(["a\n", "b\n"])
sys.displayhook({"shown": 1})
print("no newline at the end", end="")
