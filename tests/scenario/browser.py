"""A headless Chromium for scenarios, driven over the DevTools protocol through two pipes."""

import atexit
import base64
import json
import os
import subprocess
import threading
import time

PROGRAMS = ("chromium-headless-shell", "chromium")
PATIENCE = 240
KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35, "PageDown": 34, "PageUp": 33}


def program():
    """The browser's path, or None."""
    for name in PROGRAMS:
        for folder in os.environ["PATH"].split(":"):
            if os.access(os.path.join(folder, name), os.X_OK):
                return os.path.join(folder, name)
    return None


class Browser:
    def __init__(self, folder, *options):
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()
        arguments = [program(), "--headless", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--no-first-run", "--disable-gpu",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
                     "--no-proxy-server", "--hide-scrollbars", *options]
        if os.getuid() == 0:
            arguments.append("--no-sandbox")  # it refuses to serve root with one, and shows only our pages
        # The browser expects its pipes at 3 and 4, where this process may have others.
        spare = [os.dup(to_browser), os.dup(from_browser)]
        spare = [os.dup(fd) if fd in (3, 4) else fd for fd in spare]

        def place():
            os.dup2(spare[0], 30)
            os.dup2(spare[1], 31)
            os.dup2(30, 3)
            os.dup2(31, 4)

        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=place, pass_fds=(3, 4))
        atexit.register(self.process.kill)
        for fd in (to_browser, from_browser, *spare):
            os.close(fd)
        self.number = 0
        self.replies = {}
        self.listeners = []
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while piece := os.read(self.answers, 1 << 20):
            *whole, rest = (rest + piece).split(b"\0")
            for text in whole:
                message = json.loads(text)
                with self.changed:
                    if "id" in message:
                        self.replies[message["id"]] = message
                    for listener in self.listeners:
                        listener(message)
                    self.changed.notify_all()

    def call(self, method, session=None, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.replies, PATIENCE):
                raise TimeoutError(method)
            reply = self.replies.pop(number)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']}")
        return reply["result"]

    def tab(self):
        return Tab(self)

    def end(self):
        try:
            self.call("Browser.close")
        except (TimeoutError, RuntimeError, OSError):
            self.process.kill()
        self.process.wait(60)


class Tab:
    def __init__(self, browser):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.complaints = []  # errors of scripts, and what a policy has blocked
        self.requests = []
        browser.listeners.append(self.hear)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def hear(self, message):
        if message.get("sessionId") != self.session:
            return
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def look(self, expression):
        """The value of an expression of JavaScript; waits for a promise."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "?"))
        return result["result"].get("value")

    def wait(self, expression, seconds=PATIENCE):
        """Whether the expression becomes true."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if self.look(f"Boolean({expression})"):
                    return True
            except RuntimeError:
                pass  # the page is on its way
            time.sleep(0.05)
        return False

    def key(self, *keys):
        for key in keys:
            code = KEYS.get(key, ord(key[0].upper()))
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            common = {"key": key, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
            self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def screenshot(self, path):
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as file:
            file.write(data)
        return data
