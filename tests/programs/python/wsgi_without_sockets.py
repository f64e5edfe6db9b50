import io
from wsgiref.util import setup_testing_defaults
from xmlrpc.client import dumps, loads
import urllib.robotparser


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"path {environ['PATH_INFO']}".encode()]


environ = {"PATH_INFO": "/x"}
setup_testing_defaults(environ)
print(app(environ, lambda status, headers: print(status, headers)))
print(loads(dumps((1, "two", [3.5]), "method")))
robots = urllib.robotparser.RobotFileParser()
robots.parse(["User-agent: *", "Disallow: /private"])
print(robots.can_fetch("bot", "/private/x"), robots.can_fetch("bot", "/public"))
