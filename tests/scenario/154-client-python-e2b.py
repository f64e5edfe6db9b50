"""An agent's tool as people write it for E2B's code interpreter.  Its scenario changes the first import alone."""

from e2b_code_interpreter import Sandbox

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
    print("charts", len(charts), "of", len(execution.results), "main", execution.text)
    sandbox.run_code("sales.assign(double=sales['amount'] * 2).to_csv('out.csv', index=False)")
    print(sandbox.files.read("out.csv").splitlines()[-1])
    print([entry.name for entry in sandbox.files.list(".")])


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


with Sandbox() as sandbox:
    analyse(sandbox)
    correct(sandbox)
    apart(sandbox)
sandbox = Sandbox.create(timeout=120)
try:
    print(sandbox.run_code("import os\nos.getcwd() != ''").text)
finally:
    sandbox.kill()
