"""An agent's tool as people write it for E2B's code interpreter.  Its scenario changes one import line."""

import asyncio
import base64
import json

from e2b_code_interpreter import AsyncSandbox, Sandbox

SALES = "month,amount\n1,120\n2,80\n3,200\n"


def analyse(sandbox):
    """Files in, streaming callbacks, a chart, a table, files out."""
    sandbox.files.write("sales.csv", SALES)
    lines = []
    execution = sandbox.run_code(
        "import pandas as pd\n"
        "import matplotlib.pyplot as plt\n"
        "sales = pd.read_csv('sales.csv')\n"
        "print('rows', len(sales))\n"
        "plt.plot(sales['month'], sales['amount'])\n"
        "plt.title('Sales')\n"
        "plt.show()\n"
        "sales['amount'].sum()",
        on_stdout=lambda message: lines.append(message.line),
        on_stderr=lambda message: lines.append(message.line),
        on_result=lambda result: lines.append("result"))
    assert not execution.error, execution.error.traceback
    charts = [result for result in execution.results if result.png]
    print("heard", lines[0].strip(), lines.count("result"))
    assert base64.b64decode(charts[0].png).startswith(b"\x89PNG") and "png" in charts[0].formats()
    print("charts", len(charts), "of", len(execution.results), "main", execution.text)
    chart = charts[0].chart
    print("chart", chart.type.value, chart.title, chart.elements[0].points[-1])
    sandbox.run_code("sales.assign(double=sales['amount'] * 2).to_csv('out.csv', index=False)")
    print(sandbox.files.read("out.csv").splitlines()[-1])
    print([entry.name for entry in sandbox.files.list(".")], bytes(sandbox.files.read("out.csv", format="bytes"))[:5])
    document = json.loads(execution.to_json())
    print(sorted(document), json.loads(document["logs"])["stdout"], document["results"][-1]["text"])


def correct(sandbox):
    """An error with its traceback goes back to the model."""
    errors = []
    execution = sandbox.run_code("total = sales['amuont'].sum()", on_error=errors.append)
    assert execution.error is errors[0]
    print(execution.error.name, execution.error.value)
    print(execution.error.traceback.splitlines()[0])
    print(sandbox.run_code("sales['amount'].max()").text)


def apart(sandbox):
    """A second context has no variables of the first, and both go on."""
    context = sandbox.create_code_context()
    print(sandbox.run_code("'sales' in globals()", context=context).text)
    sandbox.run_code("sales = 'mine'", context=context)
    print(sandbox.run_code("len(sales)").text, sandbox.run_code("sales", context=context).text)
    print(sandbox.run_code("open('sales.csv').readline().strip()", context=context).text)


def shell(sandbox):
    """A command beside the code."""
    done = sandbox.commands.run("tail -n 1 sales.csv", on_stdout=lambda line: print("heard", line, end=""))
    print(done.exit_code, done.stdout.strip())


async def later():
    """The same for asyncio, with a callback that is a coroutine."""
    lines = []

    async def hear(message):
        lines.append(message.line)

    sandbox = await AsyncSandbox.create()
    try:
        await sandbox.set_timeout(300)
        execution = await sandbox.run_code("print('later')\n40 + 2", on_stdout=hear)
        await sandbox.files.write("a.txt", "in a file")
        print(execution.text, lines, await sandbox.files.read("a.txt"))
    finally:
        await sandbox.kill()


with Sandbox() as sandbox:
    analyse(sandbox)
    correct(sandbox)
    apart(sandbox)
    shell(sandbox)
sandbox = Sandbox.create(timeout=120)
try:
    print(sandbox.run_code("import os\nos.getcwd() != ''").text)
finally:
    sandbox.kill()
asyncio.run(later())
