"""A web app that runs code for many users: ced counts what each one spends, and says when it is enough."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ced

STATUS = {"budget_exceeded": 429, "policy_denied": 403}
client = ced.Client()  # its one connection serves all threads


class App(BaseHTTPRequestHandler):
    """POST /run with a program as the body. X-User is the user: put a login in front of it."""

    timeout = 10  # seconds in which a request must have come

    def do_POST(self):
        user = self.headers.get("X-User", "")
        length = self.headers.get("Content-Length", "")
        size = int(length) if length.isascii() and length.isdigit() else 0
        if self.path != "/run" or not user.isalnum() or len(user) > 32 or not 0 < size <= 64 << 10:
            return self.send_error(400, "POST /run, with X-User and a program of at most 64 KiB")
        program = self.rfile.read(size)
        if len(program) != size:
            return self.send_error(400, "the program is cut")
        try:
            result = client.run(program, agent=user, policy="strict",
                                limits={"wall_ms": 2000, "memory_bytes": 64 << 20})
        except ced.BadRequest:
            return self.send_error(400, "this is no program that ced takes")
        except ced.CedError:  # busy, draining, no daemon: the user may come back
            return self.send_error(503)
        self.answer(STATUS.get(result.outcome, 200), {
            "outcome": result.outcome, "output": result.text, "reason": result.reason,
            "left": (result.budget or {}).get("agent")})

    def answer(self, status, body):
        data = json.dumps(body).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), App) as server:
    print(f"http://127.0.0.1:{server.server_port}/run", flush=True)
    server.serve_forever()
