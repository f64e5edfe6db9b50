import re

LOG = """\
127.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "GET /index.html HTTP/1.0" 200 2326
::1 - bob [10/Oct/2023:13:55:40 +0000] "POST /login HTTP/1.1" 403 -
not a log line
"""
LINE = re.compile(r"""
    ^(?P<host>\S+)\ \S+\ (?P<user>\S+)\ \[(?P<when>[^\]]+)\]\ "(?P<method>[A-Z]+)\ (?P<path>\S+)[^"]*"
    \ (?P<status>\d{3})\ (?P<size>\d+|-)$""", re.X | re.M)
for match in LINE.finditer(LOG):
    print(match.span(), match.groupdict())
print(re.split(r"\s*[,;]\s*", "a , b;c;;d"), re.sub(r"(\w)(\w*)", lambda m: m[1].upper() + m[2], "the quick fox"))
print(re.fullmatch(r"(?:(\d+)|(\w+))(?<!x)", "abc").groups(), re.findall(r"(?=(\d\d))", "1234"))
print(re.match(r"(?P<q>['\"]).*?(?P=q)", "'it' 'is'").group(), re.escape("a.b*c"), re.compile("a{2,3}?").flags)
for bad in "(", "*", "(?P<1>x)", "[z-a]", r"(?<=a+)b":
    try:
        re.compile(bad)
    except re.error as error:
        print(repr(bad), error)
