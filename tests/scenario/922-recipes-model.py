"""Drives examples/agent-loop/agent.py against a server of both APIs, and looks at what it sends."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD = "```python\nprint('{\"Oslo\": 5, \"Rome\": 19, \"Lima\": 0}')\n```"
BAD = "```python\n1 / 0\n```"


class Api(BaseHTTPRequestHandler):
    """Gives the answers of the server, in the shape of the API that was asked."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        text = self.server.answers.pop(0)
        shape = {"/v1/messages": {"role": "assistant", "content": [{"type": "text", "text": text}]},
                 "/v1/chat/completions": {"choices": [{"message": {"role": "assistant", "content": text}}]}}[self.path]
        data = json.dumps(shape).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def drive(path, answers):
    """Runs the agent once. Gives what it printed and what the server was asked."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        server.answers, server.asked = list(answers), []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        env = {**os.environ, "MODEL_URL": f"http://127.0.0.1:{server.server_port}{path}", "MODEL_KEY": "k-1",
               "MODEL_NAME": "tiny", "no_proxy": "*"}
        done = subprocess.run([sys.executable, sys.argv[1]], env=env, capture_output=True, text=True, timeout=120)
        server.shutdown()
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), server.asked


def check(path, header, value):
    printed, asked = drive(path, [BAD, "I cannot do that.", GOOD])
    assert [line.split(":")[1].strip() for line in printed] == ["exception", "output_invalid", "ok"], printed
    assert printed[-1] == "attempt 3: ok: {'Oslo': 5, 'Rome': 19, 'Lima': 0}", printed
    for number, (where, headers, body) in enumerate(asked):
        headers = {name.lower(): text for name, text in headers.items()}
        assert where == path and headers[header] == value and headers["content-type"] == "application/json", headers
        assert body["model"] == "tiny" and body["max_tokens"] > 0, body
        assert [each["role"] for each in body["messages"]] == ["user", "assistant"] * number + ["user"], body
    messages = asked[-1][2]["messages"]
    assert messages[1]["content"] == BAD and "ZeroDivisionError at line 1" in messages[2]["content"], messages
    assert "output_invalid" in messages[4]["content"], messages
    return asked


asked = check("/v1/messages", "x-api-key", "k-1")
assert all("anthropic-version" in {name.lower() for name in headers} for _, headers, _ in asked), asked
check("/v1/chat/completions", "authorization", "Bearer k-1")
printed, asked = drive("/v1/messages", [BAD] * 4)
assert len(printed) == 3 and len(asked) == 3, (printed, asked)
print("ok")
