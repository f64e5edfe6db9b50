import sys


def cleanup(name):
    print("cleaning", name)


try:
    try:
        sys.exit({"not": "a number"})
    finally:
        cleanup("inner")
finally:
    cleanup("outer")
    quit_code = 4
