import json

NUMBER = 0

records = json.loads('[{"id": 1, "name": "ann", "mail": "a@x"}, {"id": 2, "name": "bob"}]')
records.append({"id": NUMBER, "name": "carla", "mail": "c@x"})


def mail_of(record):
    return record["mail"].lower()


found = {}
for record in records:
    try:
        found[record["name"]] = mail_of(record)
    except KeyError as error:
        print(f"record {record['id']} has no {error}")
print(found)

index = {record["id"]: record for record in records}
print(index.get(3, "nobody has 3"))
print(index[99]["name"])
