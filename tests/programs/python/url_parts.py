import http
import http.cookies
import ipaddress
import urllib.parse as up

parts = up.urlsplit("https://user:pw@example.org:8443/a%20b/ü?x=1&x=2&y=#frag")
print(parts, parts.port, parts.hostname, up.parse_qs(parts.query, keep_blank_values=True))
print(up.urlencode({"q": "a b&c", "l": [1, 2]}, doseq=True), up.quote("ä/b c"), up.unquote_plus("a+b%21"), up.urljoin("http://h/a/b", "../c"))
print(ipaddress.ip_network("10.0.0.0/29").num_addresses, [str(h) for h in ipaddress.ip_network("10.0.0.0/30").hosts()],
      ipaddress.ip_address("::1").is_loopback, ipaddress.ip_address("192.168.1.1") in ipaddress.ip_network("192.168.0.0/16"))
cookie = http.cookies.SimpleCookie("a=1; b=two")
print(cookie["b"].value, http.HTTPStatus(404).phrase, sorted(cookie))
for wrong in "1.2.3", "fe80::g":
    try:
        ipaddress.ip_address(wrong)
    except ValueError as error:
        print(error)
