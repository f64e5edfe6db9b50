import json
import socket

report = json.dumps({"customers": 60})
with socket.create_connection(("203.0.113.7", 443)) as upload:
    upload.sendall(report.encode())
