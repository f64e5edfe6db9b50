import xml.etree.ElementTree as ET

NUMBER = 0

catalog = ET.Element("catalog", version="1.0")
for i in range(6):
    book = ET.SubElement(catalog, "book", id=f"b{i + NUMBER % 100}")
    ET.SubElement(book, "title").text = f"Title {i} & more"
    ET.SubElement(book, "price", currency="EUR").text = f"{12.5 + i * 3:.2f}"
    if i % 2:
        ET.SubElement(book, "year").text = str(1990 + i * 4)
text = ET.tostring(catalog, encoding="unicode")
print(len(text))

root = ET.fromstring(text)
for book in root.iter("book"):
    year = book.findtext("year", default="unknown")
    print(book.get("id"), book.findtext("title"), float(book.find("price").text), year)
dear = [book for book in root if float(book.findtext("price")) > 20]
print("dear:", [book.findtext("title") for book in dear])
for book in dear:
    root.remove(book)
print(len(root), root.attrib)
