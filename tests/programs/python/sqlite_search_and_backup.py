import sqlite3

db = sqlite3.connect(":memory:")
try:
    db.execute("create virtual table page using fts5(title, body)")
    db.executemany("insert into page values (?, ?)", [
        ("jails", "a program runs in a jail"), ("pools", "warm workers wait in pools"), ("jobs", "a job runs once")])
    print(db.execute("select title, snippet(page, 1, '<', '>', '..', 3) from page where page match 'runs' "
                     "order by rank").fetchall())
except sqlite3.OperationalError as error:
    print("no fts5:", error)
db.commit()
copy = sqlite3.connect(":memory:")
db.backup(copy)
print(copy.execute("select count(*) from page").fetchone())
blob = bytes(range(256)) * 100
db.execute("create table blobs (data blob)")
db.execute("insert into blobs values (?)", (blob,))
assert db.execute("select data from blobs").fetchone()[0] == blob


class Mode:
    def __init__(self):
        self.seen = {}

    def step(self, value):
        self.seen[value] = self.seen.get(value, 0) + 1

    def finalize(self):
        return max(self.seen, key=self.seen.get)


db.create_aggregate("mode", 1, Mode)
print(db.execute("select mode(x) from (select 1 as x union all select 2 union all select 2)").fetchone())
print(len(copy.serialize()) > 4096 if hasattr(copy, "serialize") else True)
