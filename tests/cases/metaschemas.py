"""Writes the metaschemas of JSON Schema as one list: metaschemas.py FILE.

They come from Debian's python3-jsonschema, under their own $id.  Without that package nothing is
written, and cases.schema_suite names what it then refuses.
"""

import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(0)

FOLDER = pathlib.Path(jsonschema.__file__).parent / "schemas"
DRAFTS = "draft7.json", "draft2019-09.json", "draft2020-12.json"

documents = [json.loads((FOLDER / name).read_text()) for name in DRAFTS]
for uri, document in json.loads((FOLDER / "vocabularies.json").read_text()).items():
    documents.append({**document, "$id": uri})
pathlib.Path(sys.argv[1]).write_text(json.dumps(documents))
