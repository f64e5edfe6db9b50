"""Sums up what several ctest runs found: tally.py FOLDER, with one JUnit file per run.

A test program that speaks TAP counts once for each of its lines; any other counts once.  What
failed and what was skipped is named, then one line says it all.  Exit status 1 if anything
failed or nothing ran.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as xml

TAP = re.compile(r"^(?P<bad>not )?ok\b(?: \d+)?(?: - )?(?P<title>.*?)(?: # SKIP ?(?P<why>.*))?$")

REASON_MAX = 1000


def last_words(case, output, whole):
    """What is known of a test that failed without a line of TAP."""
    failure = case.find("failure")
    told = [] if failure is None else [failure.get("message") or ""]
    return " / ".join(told + output.splitlines()[-3:]) if whole == "failed" else ""


def results_of(case):
    """(verdict, title, reason) for each line of TAP, or for the test as a whole."""
    name = case.get("name")
    output = case.findtext("system-out") or ""
    rows = []
    said = []
    for line in output.splitlines():
        if hit := TAP.match(line):
            verdict = "failed" if hit["bad"] else "skipped" if hit["why"] is not None else "passed"
            why = hit["why"] or " / ".join(said if hit["bad"] else ())
            rows.append((verdict, f"{name}: {hit['title']}", why[:REASON_MAX]))
            said = []
        elif line.startswith("# ") and rows and rows[-1][0] == "failed":
            rows[-1] = (*rows[-1][:2], f"{rows[-1][2]} {line}".strip()[:REASON_MAX])
        else:
            said.append(line)

    whole = {"run": "passed", "notrun": "skipped", "disabled": "skipped"}.get(
        case.get("status"), "failed")
    if not rows:
        plan = re.search(r"^1\.\.0 # SKIP ?(.*)$", output, re.MULTILINE)
        rows.append((whole, name, plan[1] if plan else last_words(case, output, whole)))
    elif whole == "failed" and not any(row[0] == "failed" for row in rows):
        rows.append(("failed", f"{name}: ended badly after its last line", ""))
    return rows


def main():
    folder = pathlib.Path(sys.argv[1])
    count = {"passed": 0, "failed": 0, "skipped": 0}
    named = []
    for path in sorted(folder.glob("*.xml")):
        for case in xml.parse(path).getroot().iter("testcase"):
            for verdict, title, reason in results_of(case):
                count[verdict] += 1
                if verdict != "passed":
                    named.append((verdict, f"{path.stem}: {title}", reason))
    for path in sorted(folder.glob("*-failed")):
        count["failed"] += 1
        named.append(("failed", path.name.replace(".", ": ").replace("-", " "), ""))

    print()
    for verdict in ("skipped", "failed"):
        for _, title, reason in (row for row in named if row[0] == verdict):
            print(f"{verdict}  {title}{'  (' + reason + ')' if reason else ''}")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return int(count["failed"] > 0 or count["passed"] == 0)


sys.exit(main())
