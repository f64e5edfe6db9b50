"""Generate, run, correct: a model writes a program, and gets what went wrong, three times at most."""

import json
import os
import re
import urllib.request

import ced

DATA = "city,degrees\nOslo,4\nRome,19\nLima,\nOslo,6\n"
SCHEMA = {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 3}
TASK = ("Write a Python program, in one ```python block. It reads degrees.csv, which begins with "
        f"{DATA[:26]!r}, and prints the mean of the degrees of each city as JSON that fits this schema: {json.dumps(SCHEMA)}")
READ = "import csv, json\ntowns = {}\nfor row in csv.DictReader(open('degrees.csv')):\n    "
SCRIPT = ["towns.setdefault(row['town'], []).append(float(row['degrees']))\n",
          "if row['degrees']: towns.setdefault(row['city'], []).append(float(row['degrees']))\n",
          "towns.setdefault(row['city'], []).append(float(row['degrees'] or 0))\n"]
PRINT = "print(json.dumps({town: sum(all) / len(all) for town, all in towns.items()}))"


def ask(messages):
    """The model's answer: from the endpoint that the environment names, or else from the script above."""
    url = os.environ.get("MODEL_URL", "")
    if not url:
        return f"```python\n{READ}{SCRIPT[len(messages) // 2]}{PRINT}\n```"
    anthropic, key = url.endswith("/messages"), os.environ.get("MODEL_KEY", "")
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01"} if anthropic else {"authorization": f"Bearer {key}"}
    body = {"model": os.environ["MODEL_NAME"], "max_tokens": 2000, "messages": messages}
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=120) as response:
        answer = json.load(response)
    return answer["content"][0]["text"] if anthropic else answer["choices"][0]["message"]["content"]


messages = [{"role": "user", "content": TASK}]
for attempt in range(1, 4):
    answer = ask(messages)
    code = re.search(r"```python\n(.*?)```", answer + "```python\n```", re.S)[1]
    result = ced.run(code, files={"degrees.csv": DATA}, schema=SCHEMA, agent="agent-loop")
    print(f"attempt {attempt}: {result.outcome}: {result.value if result.ok else result.reason}")
    if result.ok:
        break
    messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": ced.tools_for.summary(result)}]
