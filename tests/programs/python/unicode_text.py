import re
import unicodedata

words = ["Straße", "İstanbul", "ﬁne", "Ångström", "e\u0301", "日本語", "𝒳", "👩‍👩‍👧", "\u202eabc", "ǅ"]
for word in words:
    print(word, len(word), word.upper(), word.casefold(), word.title(), word.isidentifier(),
          [unicodedata.name(c, "?") for c in word][:2], unicodedata.normalize("NFC", word) == word, word.encode("utf-8"))
print(sorted(words, key=lambda w: unicodedata.normalize("NFKD", w)), unicodedata.unidata_version)
print(re.findall(r"\w+", "naïve café №5 Ωmega_1 日本"), re.sub(r"(?i)straße", "x", "STRASSE STRAßE"))
print("\N{SNOWMAN}", ascii("ü😀"), "😀".encode("utf-16-le").hex(), "x\ty\x00\x7f\u2028".__repr__())
print("ß".encode("latin-1"), "Привет".encode("koi8-r").hex(), b"\x82\xa0".decode("shift_jis"), "½".isnumeric(), int("٣٤"))
