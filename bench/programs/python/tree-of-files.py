import os
import tempfile
from pathlib import Path

NUMBER = 0

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    for name, text in {
        "README.txt": "hello\n" * 3,
        "src/main.py": "print('main')\n",
        "src/util/text.py": f"VALUE = {NUMBER}\n",
        "data/a.csv": "a,b\n1,2\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    for current, folders, files in os.walk(root):
        folders.sort()
        depth = len(Path(current).relative_to(root).parts)
        print("  " * depth + (Path(current).name if depth else "."))
        for file in sorted(files):
            print("  " * (depth + 1) + file)
    total = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    print("python files:", sorted(str(p.relative_to(root)) for p in root.rglob("*.py")))
    print("bytes:", total - len(str(NUMBER)))
