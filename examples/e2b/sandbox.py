"""A program in the shape of E2B's code interpreter, over a session of ced: only the import line is another."""

from ced.e2b import Sandbox, TimeoutException

with Sandbox() as sandbox:
    sandbox.files.write("prices.csv", "tea,3\ncake,5\n")
    sandbox.run_code("prices = {name: int(price) for name, price in (line.split(',') for line in open('prices.csv'))}")
    execution = sandbox.run_code("print('adding up')\nsum(prices.values())",
                                 on_stdout=lambda message: print("wrote:", message.line, end=""),
                                 on_result=lambda result: print("result:", result.text))
    print("execution", execution.execution_count, "gave", execution.text, "and wrote", execution.logs.stdout)
    failed = sandbox.run_code("prices['tea'] = 4\nprices['coffee']")
    print("failed:", failed.error.name, failed.error.value)
    try:
        sandbox.run_code("prices.clear()\nwhile True: pass", timeout=1)
    except TimeoutException:
        print("killed, and undone")
    print("prices are", sandbox.run_code("prices").text)
    sandbox.run_code("open('total.txt', 'w').write(str(sum(prices.values())))")
    print("total.txt has", sandbox.files.read("total.txt"))
