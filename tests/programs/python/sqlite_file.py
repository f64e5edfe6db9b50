import os
import sqlite3
import tempfile

for folder in ".", tempfile.gettempdir():
    path = os.path.join(folder, "data.db")
    with sqlite3.connect(path) as db:
        db.execute("create table t (x)")
        db.executemany("insert into t values (?)", ((n,) for n in range(1000)))
    db.close()
    db = sqlite3.connect(path)
    print(db.execute("select sum(x), count(*) from t").fetchone(), db.execute("pragma integrity_check").fetchone())
    db.execute("pragma journal_mode = wal").fetchone()
    with db:
        db.execute("delete from t where x % 2")
    print(db.execute("select count(*) from t").fetchone())
    db.close()
    os.remove(path)
