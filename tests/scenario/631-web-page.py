"""The page of cectl web in a real browser: what it shows, by keys alone, of ten thousand runs, and to attackers."""

import base64
import http.server
import os
import struct
import sys
import threading
import zlib

from browser import Browser
from web import Web
from wire import Client, done, eq, ok, wait_until

work, screens = sys.argv[1:]
WIDE, NARROW = (1440, 900), (420, 860)
MANY = 10_000

client = Client()
web = Web()
port = web.host.rpartition(":")[2]
browser = Browser(os.path.join(work, "browser"), "--host-resolver-rules=MAP rebound.example 127.0.0.1, MAP other.example 127.0.0.1")
tab = browser.tab()
tab.size(*WIDE)
tab.scheme("light")


def shows(run_id):
    return tab.wait(f"document.querySelector('.run')?.dataset.shows === '{run_id}'")


def png(width, height, colour):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = (b"\0" + bytes(colour) * width) * height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


# ---- a day's work, for the pictures --------------------------------------------------------------

REPORT = '''import json, sys
orders = json.load(sys.stdin)
total = 0
for order in orders:
    total += order["price"] * order["count"]
    print(f'{order["name"]:<12}{order["count"]:>4}{order["price"]:>9.2f}')
print(f"total{total:>20.2f}")
'''
ORDERS = [{"name": name, "count": count, "price": price} for name, count, price in (("apples", 12, 0.4), ("bread", 3, 2.95), ("coffee", 2, 7.5))]
for turn in range(4):
    client.run(REPORT, input=ORDERS, agent="orders", task=f"report-{turn}")
    client.call("run", language="bash", code="seq 1 5 | tac", agent="shell")
    client.call("run", language="javascript", code="console.log([3, 1, 2].sort())", agent="browser-helper")
client.run("import time\ntime.sleep(9)", agent="slow", limits={"wall_ms": 150})
client.run("def half(n):\n    return 100 / n\n\nprint(half(4))\nprint(half(0))", agent="orders", task="division")
client.run("import socket\nsocket.create_connection(('example.org', 80))", agent="nosy", policy="strict")
client.run("print('x' * 5000)", agent="chatty", limits={"stdout_bytes": 1000})
client.run("x = [", agent="orders")

# ---- the page, and what happens ------------------------------------------------------------------

tab.open(web.url)
ok(tab.wait("document.querySelectorAll('.row').length >= 17"), "the page lists the runs")
eq(tab.look("[location.hash, document.cookie, location.href.includes('token')]"), ["#/runs", "", False], "the token has left the address, and there is no cookie")
ok(tab.wait("document.body.dataset.daemon === 'all'"), "events come")
client.run("print('live')", agent="live-one")
ok(tab.wait("document.querySelector('.spacer').innerText.includes('live-one')"), "a run appears as it happens")
sleeper = client.send("run", language="python", code="import sys; sys.stdin.read()\nimport time; time.sleep(600)", agent="sleeper", limits={"wall_ms": 60000, "cpu_ms": 60000})
ok(tab.wait("[...document.querySelectorAll('.row')].some((row) => row.innerText.includes('running') && row.innerText.includes('sleeper'))"), "one that goes on is running")
client.call("cancel", run_id=client.call("runs.list", agent="sleeper")["runs"][0]["run_id"])
client.receive(sleeper)
ok(tab.wait("[...document.querySelectorAll('.row')].some((row) => row.innerText.includes('canceled') && row.innerText.includes('sleeper'))"), "then it is what became of it")

# ---- one run --------------------------------------------------------------------------------------

denied = client.call("runs.list", agent="nosy")["runs"][0]["run_id"]
tab.look(f"location.hash = '#/run/{denied}'")
ok(shows(denied), "a run opens by its address")
text = tab.look("document.querySelector('.detail').innerText")
ok(all(word in text for word in ("policy denied", "python.import.denied", "line 1, column 8", "import socket", "Timeline", "policy.verdict", f"cectl show {denied}")),
   "with outcome, findings, program, timeline and commands", text)
eq(tab.look("document.querySelectorAll('.line.is-denied').length"), 1, "the finding's line is marked")
failed = client.call("runs.list", task="division")["runs"][0]["run_id"]
tab.look(f"location.hash = '#/run/{failed}'")
shows(failed)
text = tab.look("document.querySelector('.detail').innerText")
ok(all(word in text for word in ("exception", "ZeroDivisionError", "25.0", "worker.taken", "execute")), "one that failed shows its error, output and phases", text)
ok(tab.look("document.querySelectorAll('.phases rect').length") >= 3, "phases are bars")

picture = base64.b64encode(png(64, 40, (30, 120, 200))).decode()
code = f"import base64\ndisplay.mime({{'image/png': base64.b64decode('{picture}')}})\ndisplay.mime({{'image/png': b'<svg onload=alert(1)>'}})\n"
run_id = client.run(code, display=True)["run_id"]
tab.look(f"location.hash = '#/run/{run_id}'")
shows(run_id)
ok(tab.wait("document.querySelector('.picture')?.naturalWidth === 64"), "a picture is shown")
eq(tab.look("[document.querySelectorAll('.picture').length, document.querySelector('.detail').innerText.includes('This is called image/png, and it is not.')]"), [1, True],
   "bytes that only claim to be one are not")

# ---- hostile text ---------------------------------------------------------------------------------

HTML = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=2</script></pre></textarea><style>*{display:none}</style><a href=\"javascript:hacked=3\">x</a>"
HIDDEN = "\x1b[2J\u202egnp.exe\u2066\u200b\u0085"
hostile = f"# {HTML}\n# {HIDDEN}\nimport sys\nopen('<b>file\\u202e', 'w').write('x')\nprint({HTML!r}, {HIDDEN!r})\nprint({HTML!r}, file=sys.stderr)\n" \
          f"display.mime({{'text/html': {HTML!r}}})\nraise ValueError({HTML + HIDDEN!r})\n"
result = client.run(hostile, agent=HTML[:100], task="</span><b>", labels={"l": HTML[:100]}, artifacts=["*"], display=True)
client.run("import socket # " + HTML + HIDDEN, policy="strict", agent="constructor", task="__proto__")
before = tab.look("document.querySelectorAll('script, style, iframe, object, embed, link').length")
tab.look(f"location.hash = '#/run/{result['run_id']}'")
shows(result["run_id"])
tab.wait(f"document.querySelector('.spacer').innerText.includes('onerror')")
eq(tab.look("window.hacked ?? 'no'"), "no", "no text of a program runs")
eq(tab.look("document.querySelectorAll('script, style, iframe, object, embed, link').length"), before, "or becomes an element")
eq(tab.look("[...document.querySelectorAll('main img')].length + document.querySelectorAll('main a[href^=javascript]').length"), 0, "or a picture, or a link")
text = tab.look("document.querySelector('main').textContent")
ok(text.count("<script>window.hacked=2</script>") >= 4, "it is text, in program, output, error and display", text)
ok("\\x1b[2J\\u{202e}gnp.exe\\u{2066}\\u{200b}\\u{85}" in text, "hidden characters are visible", text)
eq([hex(ord(letter)) for letter in text if letter in "\x1b\u202e\u2066\u200b\x85"], [], "and none of them is left")
eq(tab.look("getComputedStyle(document.querySelector('.code')).unicodeBidi"), "bidi-override", "programs stand in the order of their letters")
eq(tab.look("document.title.includes('<')"), False, "the title is ours")
BLOCKED = """(() => { try { %s; return "done" } catch (error) { return error.name } })()"""
eq(tab.look(BLOCKED % "document.body.insertAdjacentHTML('beforeend', '<i>x</i>')"), "TypeError", "even a mistake of the page could not parse a text as HTML")
eq(tab.look(BLOCKED % "(() => { const one = document.createElement('script'); one.textContent = 'window.hacked = 4'; document.body.append(one) })()"), "TypeError", "or run one")
tab.look(BLOCKED % "(() => { const one = document.createElement('a'); document.body.append(one); one.setAttribute('onclick', 'window.hacked = 5'); one.click() })()")
eq(tab.look("window.hacked ?? 'no'"), "no", "attributes are no scripts")
eq(tab.look("fetch('http://other.example:1/').then(() => 'sent', (error) => error.name)"), "TypeError", "and nothing goes to another address")
tab.complaints.clear()

# ---- other sites ----------------------------------------------------------------------------------

EVIL = f"""<!doctype html><body><script>
const victim = "http://{web.host}", told = {{}};
const later = (name, start) => new Promise((resolve) => {{ start(resolve); setTimeout(() => resolve("nothing"), 20000); }}).then((found) => told[name] = found);
const said = (promise) => promise.then((response) => response.type + " " + response.status, (error) => error.name);
const element = (name, kind, attributes) => later(name, (resolve) => {{
  const one = Object.assign(document.createElement(kind), attributes, {{ onload: () => resolve("loaded"), onerror: () => resolve("error") }});
  document.body.append(one);
}});
window.finished = Promise.all([
  later("read", (resolve) => resolve(said(fetch(victim + "/api/runs.list")))),
  later("header", (resolve) => resolve(said(fetch(victim + "/api/runs.list", {{ headers: {{ Authorization: "Bearer {web.token}" }} }})))),
  later("blind", (resolve) => resolve(said(fetch(victim + "/api/runs.list", {{ mode: "no-cors" }})))),
  later("post", (resolve) => resolve(said(fetch(victim + "/api/admin.drain", {{ method: "POST", mode: "no-cors", body: "x" }})))),
  element("script", "script", {{ src: victim + "/app.js" }}), element("module", "script", {{ type: "module", src: victim + "/app.js" }}),
  element("image", "img", {{ src: victim + "/icon.svg" }}), element("style", "link", {{ rel: "stylesheet", href: victim + "/style.css" }}),
]).then(() => told);
</script>"""


class Evil(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(EVIL.encode())

    def log_message(self, *_):
        pass


evil = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
threading.Thread(target=evil.serve_forever, daemon=True).start()
attacker = browser.tab()
for name in ("other.example", "localhost", "127.0.0.1"):
    attacker.open(f"http://{name}:{evil.server_port}/")
    told = attacker.look("window.finished")
    ok(all(found in ("TypeError", "error") for found in told.values()), f"a page of {name} on another port reaches nothing", told)
attacker.look(f"(() => {{ const frame = document.createElement('iframe'); frame.src = 'http://{web.host}/'; document.body.append(frame); }})()")

def frames():
    return [child["frame"]["url"] for child in attacker.call("Page.getFrameTree")["frameTree"].get("childFrames", [])]


ok(wait_until(lambda: frames() == ["chrome-error://chromewebdata/"]), "it cannot frame the page", frames())
attacker.look(f"location.href = 'http://{web.host}/'")
ok(attacker.wait("document.body.innerText.includes('Another site led here')"), "a link of another site leads to a refusal")
attacker.open(f"http://rebound.example:{port}/")
ok(attacker.wait("document.body.innerText.includes('not the host name')"), "a name that was made to lead here is refused")
attacker.open(f"http://{web.host}/")
ok(attacker.wait("document.querySelector('.gate')"), "without a token the page asks for it")
eq(attacker.look("[...document.querySelectorAll('.row')].length"), 0, "and shows nothing")
attacker.look("document.querySelector('#token').focus()")
attacker.type("0" * 64)
attacker.key("Enter")
ok(attacker.wait("document.querySelector('.gate') && document.querySelectorAll('.row').length === 0"), "a wrong token opens nothing")
evil.shutdown()

# ---- keys -----------------------------------------------------------------------------------------

tab.open("about:blank")
tab.open(web.url)
tab.wait("document.querySelectorAll('.row').length > 10 && document.activeElement.classList.contains('rows')")
SELECTED = "document.querySelector('.row[aria-selected=true]')"
newest = client.call("runs.list", limit=3)["runs"]
tab.key("j", "ArrowDown", "j", "k")
ok(tab.wait(f"{SELECTED}?.dataset.run === '{newest[1]['run_id']}'"), "j, k and arrows choose a run")
# An event about the run makes its row anew, so for one frame there may be none.
ok(tab.wait(f"document.querySelector('.rows').getAttribute('aria-activedescendant') === {SELECTED}.id"), "which a screen reader is told")
ok(shows(newest[1]["run_id"]), "beside the list it is shown at once")
tab.key("Enter")
ok(tab.wait("document.activeElement.classList.contains('detail')"), "Enter goes to it")
tab.key("Escape")
ok(tab.wait("document.activeElement.classList.contains('rows')"), "Escape comes back")
tab.key("/")
tab.type("division")
ok(tab.wait("document.querySelector('.empty').textContent === 'No run is like that.'"), "/ searches")
tab.look("document.querySelector('#search').select()")
tab.type("half")
ok(tab.wait("document.querySelectorAll('.row').length === 1"), "words of programs")
tab.key("Enter", "j")
ok(shows(failed), "and Enter goes to the list")
tab.key("/")
tab.look("document.querySelector('#search').select()")
tab.type(" ")
tab.key("Escape")
ok(tab.wait("document.querySelectorAll('.row').length > 10"), "without words all are there again")
tab.key("?")
ok(tab.wait("document.querySelector('#help').open"), "? shows the keys")
tab.key("Escape")
ok(tab.wait("!document.querySelector('#help').open"), "Escape closes them")
tab.key("2")
ok(tab.wait("document.querySelectorAll('.chart rect').length > 0 && document.querySelectorAll('.bars li').length > 3"), "2 shows charts")
eq(tab.look("[...document.querySelectorAll('svg[role=img]')].filter((one) => !one.getAttribute('aria-label')).length"), 0, "each says in words what it shows")
tab.key("Tab", "Tab")
stops = []
for _ in range(40):
    tab.key("Tab")
    stops.append(tab.look("document.activeElement === document.body ? null : getComputedStyle(document.activeElement).outlineStyle !== 'none'"))
ok(stops.count(True) > 5 and False not in stops, "every stop of Tab can be seen", stops)

# ---- approvals ------------------------------------------------------------------------------------

parked = client.call("run", language="python", code="import ctypes\nprint(ctypes.sizeof(ctypes.c_long))\n", policy="review", agent="careful", detach=True)["run_id"]
ok(tab.wait("document.querySelector('#waiting').textContent === '1'"), "what waits is counted at once")
tab.key("3")
ok(tab.wait("document.querySelector('.waits')"), "3 shows what waits")
text = tab.look("document.querySelector('.waits').innerText")
ok(all(word in text for word in (parked, "import ctypes", "python.import.dangerous", f"cectl approve {parked}", f"cectl deny {parked}", "careful")),
   "with its program, its findings and the command to type", text)
eq(tab.look("[...new Set([...document.querySelectorAll('main button')].map((one) => one.textContent))]"), ["Copy"], "there is nothing to press but Copy")

# ---- pictures -------------------------------------------------------------------------------------

os.makedirs(screens, exist_ok=True)
VIEWS = {"runs": "#/runs", "run": f"#/run/{failed}", "denied": f"#/run/{denied}", "charts": "#/charts", "approvals": "#/approvals"}
READY = {"runs": ".row", "run": f".run[data-shows='{failed}']", "denied": f".run[data-shows='{denied}']", "charts": ".bars li", "approvals": ".waits"}
backgrounds, wide_ones = set(), []
for scheme in ("light", "dark"):
    tab.scheme(scheme)
    for name, (width, height) in (("wide", WIDE), ("narrow", NARROW)):
        tab.size(width, height)
        for view, address in VIEWS.items():
            tab.look(f"location.hash = '{address}'")
            tab.wait(f"document.querySelector(\"{READY[view]}\")")
            tab.look("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
            data = tab.screenshot(os.path.join(screens, f"{view}-{name}-{scheme}.png"))
            if struct.unpack(">II", data[16:24]) != (width, height) or len(data) < 8000:
                wide_ones.append(f"{view}-{name}-{scheme}: {len(data)} bytes")
            if tab.look("document.documentElement.scrollWidth > innerWidth"):
                wide_ones.append(f"{view}-{name}-{scheme}: wider than the window")
        backgrounds.add((scheme, tab.look("getComputedStyle(document.body).backgroundColor")))
eq(wide_ones, [], f"{4 * len(VIEWS)} pictures, at two widths, in light and dark; none is wider than its window")
eq(len({colour for _, colour in backgrounds}), 2, "light and dark differ")
tab.scheme("light")
tab.size(*NARROW)
tab.look("location.hash = '#/runs'")
tab.wait("document.querySelectorAll('.row').length > 5")
tab.key("1", "Home", "Enter")
ok(tab.wait("getComputedStyle(document.querySelector('.list')).display === 'none' && document.querySelector('.run')"), "in a narrow window a run takes the list's place")
tab.key("Escape")
ok(tab.wait("getComputedStyle(document.querySelector('.list')).display !== 'none' && document.activeElement.classList.contains('rows')"), "and Escape brings it back")
tab.size(*WIDE)

# ---- ten thousand runs ----------------------------------------------------------------------------

for _ in range(MANY // 200):
    asked = [client.send("run", language="python", code="x", limitz={}, agent="many") for _ in range(200)]
    for msgid in asked:
        client.receive(msgid)
tab.open("about:blank")
tab.open(web.url)
tab.wait("document.querySelectorAll('.row').length > 10")
most = 0
tab.look("document.querySelector('.rows').focus()")


def all_listed():
    global most
    tab.key("End")
    most = max(most, tab.look("document.querySelectorAll('.row').length"))
    return tab.look("!document.querySelector('.total').textContent.includes('+')")


ok(wait_until(all_listed, 400), "End leads to the oldest run")
total = int(tab.look("document.querySelector('.total').textContent").split()[0].replace(",", ""))
ok(total > MANY, f"{total} runs are listed")
ok(most < 100, f"at most {most} of them are elements")
eq(tab.look("Number(document.querySelector('.rows').getAttribute('aria-rowcount'))"), total, "a screen reader knows how many there are")
few_us, many_us = tab.look(f"""(async () => {{
    const {{ RunList }} = await import("/runs.js");
    const lists = [50, {MANY}].map((count) => {{
        const list = new RunList(() => {{}});
        list.root.style.cssText = "position: fixed; inset: 60px 40% 0 0; height: 800px";
        document.body.append(list.root);
        list.take({{ more: false, runs: Array.from({{ length: count }}, (_, at) => ({{ run_id: String(at).padStart(26, "0"), state: "ended", outcome: "ok", language: "python", agent: "a", received_us: 1, total_us: at }})) }});
        return {{ list, took: [] }};
    }});
    for (let round = 0; round < 120; round++) {{
        for (const {{ list, took }} of lists) {{
            list.scroller.scrollTop = (list.runs.length * 30 - 700) * ((round * 37) % 100) / 100;
            list.pool.forEach((_, id) => list.forget_row(id));
            const began = performance.now();
            list.draw();
            list.root.getBoundingClientRect();
            took.push(performance.now() - began);
        }}
    }}
    const middle = (took) => took.sort((a, b) => a - b)[took.length >> 1] * 1000;
    lists.forEach(({{ list }}) => list.root.remove());
    return lists.map(({{ took }}) => Math.round(middle(took)));
}})()""")
ok(many_us < 3 * few_us + 500, f"drawing a part of {MANY} takes {many_us} µs, of 50 {few_us} µs")
top = tab.look("document.querySelector('.rows').scrollTop")
client.run("print('meanwhile')", agent="meanwhile")
ok(tab.wait(f"document.querySelector('.total').textContent.startsWith('{total + 1:,}')"), "a new run joins them")
eq(tab.look("document.querySelector('.rows').scrollTop") - top, 30, "and what a person looks at stays where it is")

# ---- the daemon ends, and comes back --------------------------------------------------------------

print("daemon stop", flush=True, file=sys.stderr)
ok(tab.wait("document.querySelector('#banner').textContent.includes('The daemon has gone')"), "the page says that the daemon has gone")
print("daemon start", flush=True, file=sys.stderr)
ok(tab.wait("document.querySelector('#banner').hidden"), "and no longer when it is back")
client = Client()
client.run("print('after')", agent="after-all")
tab.key("Home")
ok(tab.wait("document.querySelector('.spacer').innerText.includes('after-all')"), "then events come again")
tab.complaints = [text for text in tab.complaints if "503" not in text]
eq(tab.complaints, [], "no script failed, and the policy blocked nothing of ours")
eq({url for url in tab.requests if not url.startswith((f"http://{web.host}/", "data:image/png", "about:", "http://other.example"))}, set(), "the page asked nobody else")
web.end()
ok(tab.wait("document.querySelector('#banner').textContent.includes('cectl web does not answer')"), "when cectl web ends, the page says so")
browser.end()
done()
