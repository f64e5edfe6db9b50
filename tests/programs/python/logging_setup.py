import io
import logging
import logging.handlers
import sys

stream = io.StringIO()
logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(lineno)d:%(message)s", stream=sys.stdout)
log = logging.getLogger("app.part")
log.debug("unseen")
log.info("number %d of %s", 3, "x")
log.warning("careful")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("went wrong")
handler = logging.handlers.RotatingFileHandler("app.log", maxBytes=200, backupCount=2)
handler.setFormatter(logging.Formatter("{name} {message}", style="{"))
log.addHandler(handler)
log.propagate = False
for n in range(30):
    log.error("line %d", n)
handler.close()
import os
print(sorted(f for f in os.listdir(".") if "log" in f), open("app.log").readlines()[-1])
memory = logging.handlers.MemoryHandler(10, target=logging.StreamHandler(stream))
other = logging.getLogger("other")
other.addHandler(memory)
other.propagate = False
other.warning("kept")
print(repr(stream.getvalue()))
memory.flush()
print(repr(stream.getvalue()))
logging.getLogger("nobody").handlers.clear()
log.info("bad %d", "text") if False else None
logging.error("bad %d", "text")
