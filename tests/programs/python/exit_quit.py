try:
    exit
    print("site is there")
    quit(2)
except NameError as error:
    print(error)
