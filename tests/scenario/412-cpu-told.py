from wire import Client, done, eq, ok

BURN = "import time\nwhile time.process_time() < 0.4:\n    pass\nprint('done')"
PROGRAMS = {
    "python": BURN,
    "bash": "i=0; while ((i < 60000)); do ((i++)); done; seq 1 300000 | wc -l >/dev/null; echo done",
    "javascript": "const until = Date.now() + 300; while (Date.now() < until);\nconsole.log('done')",
}

client = Client()
languages = {row["language"] for row in client.call("runtimes")["runtimes"]}
told = {}
for language in languages & set(PROGRAMS):
    result = client.call("run", language=language, code=PROGRAMS[language])
    metrics = result["metrics"]
    told[language] = metrics["cpu_user_us"] + metrics["cpu_sys_us"]
    ok(result["outcome"] == "ok" and told[language] > 20000,
       f"a run of {language} that is ok is told its processor time, {told[language] // 1000} ms", result)
ok(told["python"] > 350000, "and all of it", told)

spent = 0
for count in range(9):
    result = client.run(BURN)
    if result["outcome"] != "ok":
        break
    spent += result["metrics"]["cpu_user_us"]
eq(result["outcome"], "budget_exceeded", f"who has spent his processor time is not let in, after {count} runs more")
ok("cpu" in result["reason"], "and told so", result["reason"])
done()
