import os
import sys

os.write(1, b"1 ")
sys.stdout.write("2 ")
sys.stderr.write("error without newline")
os.write(1, b"3 ")
sys.stdout.write("4")
