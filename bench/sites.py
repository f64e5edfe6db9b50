"""What `python3 -c` reads before the program: folders of packages and the .pth files in them."""

import json

SCRIPT = """
import json, os, site, sys
print(json.dumps({"modules": len(sys.modules), "folders": {
    folder: [len(os.listdir(folder)), sorted(n for n in os.listdir(folder) if n.endswith(".pth"))]
    for folder in site.getsitepackages() if os.path.isdir(folder)}}))
"""


def read_by(starter, command):
    """{"modules": imported at the start, "folders": {folder: [entries, .pth files]}}"""
    return json.loads(starter.run(command + [SCRIPT]).stdout)


def has_pth(site):
    return any(pth for _, pth in site["folders"].values())


def told(site):
    lines = [f"python3 -c imports {site['modules']} modules before the program; it reads"]
    for folder, (entries, pth) in site["folders"].items():
        lines.append(f"  {folder}: {entries} entries, .pth files: {' '.join(pth) or 'none'}")
    return lines
