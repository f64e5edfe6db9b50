import sqlite3

db = sqlite3.connect(":memory:")
db.row_factory = sqlite3.Row
db.executescript("""
    create table customer (id integer primary key, name text not null unique);
    create table invoice (customer integer references customer, cents integer check (cents > 0), day text);
    create index by_day on invoice (day);
""")
with db:
    db.executemany("insert into customer (name) values (?)", [("Ann",), ("Bob",), ("Åsa",)])
    db.executemany("insert into invoice values (?, ?, date('2024-01-01', ? || ' days'))",
                   [(1 + n % 3, 100 + n * 7, n) for n in range(40)])
for row in db.execute("""
        select name, count(*) as n, sum(cents) / 100.0 as total,
               group_concat(distinct strftime('%m', day)) as months
        from invoice join customer on customer.id = customer group by 1 order by total desc"""):
    print(dict(row))
db.create_function("reversed", 1, lambda text: text[::-1], deterministic=True)
print([row[0] for row in db.execute("select reversed(name) from customer order by 1")])
for row in db.execute("""
        with recursive f(a, b) as (select 0, 1 union all select b, a + b from f limit 12)
        select a, row_number() over (order by a desc) as r, json_array(a, b) from f order by a limit 4"""):
    print(tuple(row))
try:
    with db:
        db.execute("insert into customer (name) values ('Zoe')")
        db.execute("insert into invoice values (1, -5, 'x')")
except sqlite3.IntegrityError as error:
    print(error, db.execute("select count(*) from customer").fetchone()[0])
try:
    db.execute("select nothing from nowhere")
except sqlite3.OperationalError as error:
    print(error)
print(len("\n".join(db.iterdump()).splitlines()))
