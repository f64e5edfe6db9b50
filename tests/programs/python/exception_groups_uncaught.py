def fail(n):
    raise ValueError(n)


errors = []
for n in range(3):
    try:
        fail(n)
    except ValueError as error:
        error.add_note(f"note {n}")
        errors.append(error)
raise ExceptionGroup("several", errors)
