import io

import pandas as pd

NUMBER = 0

orders = pd.read_csv(io.StringIO("id,customer,amount\n" + "\n".join(
    f"{number},{number % 7},{(number * 13 + NUMBER) % 90 + 0.5}" for number in range(200)
)))
customers = pd.DataFrame({"customer": range(7), "name": list("abcdefg")})
joined = orders.merge(customers, on="customer")
joined["size"] = pd.cut(joined["amount"], [0, 30, 60, 100], labels=["small", "middle", "large"])
print(joined.groupby(["name", "size"], observed=True)["amount"].sum().unstack().round(1))
