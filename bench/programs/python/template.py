import html
import re
from string import Template

NUMBER = 0

page = """<h1>{{ title }}</h1>
<ul>
{% for item in items %}  <li>{{ item }}</li>
{% endfor %}</ul>
<p>{{ note }}</p>"""


def render(text, **values):
    def loop(match):
        name, source, body = match.groups()
        return "".join(render(body, **values, **{name: item}) for item in values[source])

    text = re.sub(r"{% for (\w+) in (\w+) %}(.*?){% endfor %}", loop, text, flags=re.S)
    return re.sub(r"{{ (\w+) }}", lambda m: html.escape(str(values.get(m[1], m[0]))), text)


print(render(page, title="Shop & Co", items=["tea <green>", "cake", NUMBER % 100], note="it's fine"))
mail = Template("Dear $name,\nyour order ${number} of $$${price} is on its way.\n")
print(mail.substitute(name="Ann", number=NUMBER, price="12.50"))
print(mail.safe_substitute(name="Bob"))
print("{:>10}|{:<10}|{:^10}|{:+.2e}".format("right", "left", "middle", 12345.678))
print(f"{NUMBER:08d} {NUMBER:x} {NUMBER / 7:,.3f} {0.256:.1%} {'x' * 3!r}")
