import resource

usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_maxrss > 0, usage.ru_utime >= 0, resource.getpagesize())
soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
print(len(resource.getrlimit(resource.RLIMIT_NOFILE)), soft == 0 or hard != 0)
data = bytearray(50 << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >= usage.ru_maxrss, len(data))
