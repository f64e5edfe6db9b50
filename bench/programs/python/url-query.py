from urllib.parse import parse_qs, quote, urlencode, urlsplit, urlunsplit

NUMBER = 0

urls = [
    f"https://example.com:8443/search?q=tea+cups&page={NUMBER % 40}&sort=price",
    "http://user@example.org/a/b/../c?x=1&x=2&empty=",
    "/relative/path#section-2",
    "https://example.net/?q=" + quote("čaj & sušenky"),
]
for url in urls:
    parts = urlsplit(url)
    query = parse_qs(parts.query, keep_blank_values=True)
    print(parts.scheme or "-", parts.hostname, parts.port, parts.path, query, parts.fragment or "-")


def with_query(url, **extra):
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    query.update({key: [str(value)] for key, value in extra.items()})
    return urlunsplit(parts._replace(query=urlencode(query, doseq=True)))


print(with_query(urls[0], page=NUMBER % 40 + 1, lang="en"))
print(with_query(urls[1], x="3", y="a b"))
