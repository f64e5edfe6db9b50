from pathlib import Path, PurePosixPath

base = Path("tree")
for name in "a/b/c.txt", "a/d.py", "e.txt", "ü/f.txt":
    path = base / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"content of {name}\n", encoding="utf-8")
print(sorted(str(p) for p in base.rglob("*.txt")), [p.name for p in sorted(base.iterdir())])
one = base / "a" / "d.py"
print(one.suffix, one.stem, one.parent, one.with_suffix(".md"), one.relative_to("tree"), one.exists(), one.stat().st_size)
one.rename(base / "moved.py")
print(one.exists(), (base / "moved.py").read_bytes(), Path.cwd().name, (base / "x").resolve().parts[-2:])
(base / "e.txt").chmod(0o640)
print(oct((base / "e.txt").stat().st_mode), PurePosixPath("/a/../b").parts, Path("~/x").expanduser().parts[-2:])
for action in (base / "none").read_text, base.rmdir, (base / "e.txt").mkdir, (base / "e.txt").iterdir:
    try:
        list(action() or [])
    except OSError as error:
        print(type(error).__name__, error)
