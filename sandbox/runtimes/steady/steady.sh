# What bash reads before a deterministic run (BASH_ENV): its chance begins the same each time.
RANDOM=0
