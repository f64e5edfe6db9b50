import html
import html.parser
import xml.etree.ElementTree as ET
import xml.sax
from xml.dom import minidom

print(html.escape("<a href='x'>&</a>"), html.unescape("&eacute;&#x41;&amp;lt;"))


class Links(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        print("start", tag, attrs)

    def handle_data(self, data):
        print("data", repr(data))


Links().feed("<p class=x>Hello <a href='/y?a=1&amp;b=2'>link</a><br/></p>")
root = ET.fromstring("<shop xmlns:x='urn:x'><item id='1'>Apfel</item><x:item id='2'>Birne &amp; co</x:item></shop>")
for item in root.iter():
    print(item.tag, item.attrib, item.text)
ET.SubElement(root, "item", id="3").text = "<neu>"
ET.indent(root)
print(ET.tostring(root, encoding="unicode"), root.find("item[@id='3']").text)
print(minidom.parseString("<a><b c='d'/></a>").toprettyxml(indent=" "))


class Count(xml.sax.ContentHandler):
    def startElement(self, name, attrs):
        print("sax", name, dict(attrs))


xml.sax.parseString(b"<r a='1'><s/></r>", Count())
try:
    ET.fromstring("<a><b></a>")
except ET.ParseError as error:
    print(error)
