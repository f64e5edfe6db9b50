import codecs
import io

text = "Grüße, 10 € – done"
for name in "utf-8", "utf-8-sig", "utf-16", "utf-32-be", "utf-7", "cp1252", "iso8859-15", "mac-roman", "punycode", "idna":
    try:
        data = text.encode(name)
        print(name, data[:24], data.decode(name) == text)
    except UnicodeError as error:
        print(name, error)
for errors in "ignore", "replace", "xmlcharrefreplace", "backslashreplace", "namereplace":
    print(errors, "aü€".encode("ascii", errors))
print(b"a\xff\xfeb".decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape"))
for name in "rot13", "hex_codec", "base64_codec", "zlib_codec", "quopri":
    data = codecs.encode("Hello" if name == "rot13" else b"Hello", name)
    print(name, data if name != "zlib_codec" else len(data), codecs.decode(data, name))
try:
    "x".encode("no-such-codec")
except LookupError as error:
    print(error)
decoder = codecs.getincrementaldecoder("utf-8")()
print([decoder.decode(bytes([b])) for b in "ü€".encode()])
print(io.TextIOWrapper(io.BytesIO("Å\r\nb".encode("cp1252")), "cp1252").readlines())
