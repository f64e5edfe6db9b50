"""An incident agent: plan, policy, execute, a brief that is validated, and the trace of it all."""

import json

import ced

LOG = "\n".join([f"12:0{i // 4} api {'500 db: too many connections' if i > 11 else '200 ok'}" for i in range(20)]
                + ["12:04 db max_connections=100 in_use=100", "12:05 deploy api v42 pool=60"])
BRIEF = {"type": "object", "additionalProperties": False, "required": ["errors", "since", "suspects"],
         "properties": {"errors": {"type": "integer", "minimum": 1}, "since": {"type": "string", "pattern": "^[0-9:]+$"},
                        "suspects": {"type": "array", "items": {"type": "string"}, "minItems": 1}}}
READ = "import json, sys\nlines = json.load(sys.stdin)['log'].splitlines()\n"
PLAN = [  # what a model would write: each step has a purpose and a program
    ("count the errors", READ + "bad = [line for line in lines if ' 500 ' in line]\n"
     "print(json.dumps({'errors': len(bad), 'since': bad[0][:5]}))"),
    ("restart the database", "import subprocess\nsubprocess.run(['systemctl', 'restart', 'db'])"),
    ("find what changed", READ + "print(json.dumps({'suspects': [line[6:] for line in lines if ' deploy ' in line]}))"),
]
COMBINE = ("import json, sys\nbrief = {}\nfor part in json.load(sys.stdin)['found']:\n    brief.update(part)\n"
           "print(json.dumps(brief))")

with ced.Client() as client:
    about = {"policy": "strict", "agent": "incident", "task": "incident-7"}
    print("plan and policy")
    allowed = []
    for purpose, code in PLAN:
        check = client.check(code, **about)
        print(f"  {check.would:5} {purpose}", *(f"({each.rule}, line {each.line})" for each in check.policy.findings[:1]))
        allowed += [(purpose, code)] if check.would == "run" else []
    print("execute")
    found, runs = [], []
    for purpose, code in allowed:
        result = client.run(code, input={"log": LOG}, output="json", labels={"step": purpose}, **about)
        print(f"  {result.outcome:5} {purpose}: {json.dumps(result.value)}")
        found.append(result.value)
        runs.append(result)
    brief = client.run(COMBINE, input={"found": found}, schema=BRIEF, labels={"step": "brief"}, **about)
    print("brief", brief.outcome, json.dumps(brief.value), "trace", sep="\n  ")
    for result in [*runs, brief]:
        print(" ", result.run_id, *dict.fromkeys(step["phase"] for step in result.trace))
