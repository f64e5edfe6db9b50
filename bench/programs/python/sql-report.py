import sqlite3

NUMBER = 0

db = sqlite3.connect(":memory:")
db.executescript(
    """
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, team TEXT);
    CREATE TABLE hours (person INTEGER REFERENCES person, day TEXT, hours REAL);
    CREATE INDEX hours_person ON hours (person);
    """
)
db.executemany("INSERT INTO person VALUES (?, ?, ?)", [(i, f"person {i}", "ab"[i % 2]) for i in range(8)])
db.executemany(
    "INSERT INTO hours VALUES (?, ?, ?)",
    [(i % 8, f"2024-06-{i % 30 + 1:02}", (i * 3 + NUMBER) % 9 + 0.5) for i in range(120)],
)
query = """
    SELECT team, name, round(sum(hours), 1) AS total, count(*) AS days
    FROM hours JOIN person ON person.id = hours.person
    GROUP BY person.id HAVING total > ? ORDER BY total DESC, name LIMIT 5
"""
for row in db.execute(query, (50,)):
    print(row)
with db:
    db.execute("DELETE FROM hours WHERE day < ?", ("2024-06-10",))
print(db.execute("SELECT count(*), avg(hours) FROM hours").fetchone()[0])
