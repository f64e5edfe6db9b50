"""Cases that every runner of clients/conformance must fail, one a line, and one that it must skip."""

import json

step = {"call": "run", "params": {"language": "python", "code": "print(1)"}}
wrong = [{"result": {"stdout": "2\n"}}, {"result": {"stdout": {"$absent": True}}}, {"error": {"code": "busy"}},
         {"result": {"artifacts": [{}]}}, {"events": []}, {"result": {"ok": {"$type": "string|null"}}},
         {"result": {"exit_code": {"$min": 1}}}, {"result": {"exit_code": False}}, {"result": {"stdout": {"$matches": "^2"}}},
         {"result": {"truncated": {"$any": True}, "surely_not": {"$any": True}}}, {"result": {"stdout": {"$bytes": "Mgo="}}},
         {"result": {"stdout": {"$contains": "2"}}}, {"result": {"trace": {"$each": {"$type": "string"}}}}]
cases = [{"name": f"wrong {number}", "steps": [{**step, **more}]} for number, more in enumerate(wrong)]
cases.append({"name": "skipped", "needs": ["cobol"], "steps": [step]})
print('{"about": "wrong", "cases": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]}")
