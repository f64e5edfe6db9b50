#!/bin/bash
# The examples of agents do what their first lines promise.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack cgroups that can be frozen"
examples=$(cd "${CED_SOURCE:-$here/../..}/examples" && pwd)
printf '%s\n' 'workers_min = 3' 'workers_max = 4' 'workers_reserve = 0' >"$ced_folder/ced.conf"
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

# --- a sandbox ---------------------------------------------------------------------------------------

exits 0 "e2b_like.py shows itself" /usr/bin/python3 "$examples/e2b_like.py"
is "$out" "wrote: adding up
result: 8
execution 2 gave 8 and wrote ['adding up\n']
failed: KeyError 'coffee'
killed, and undone
prices are {'tea': 4, 'cake': 5}
total.txt has 9" "with variables, callbacks, errors, files, and a killed cell that is undone"

is "$(cectl session list 2>&1)" "cectl: no session is open" "and leaves no session"

# --- tools -------------------------------------------------------------------------------------------

exits 0 "code_mode.py" /usr/bin/python3 "$examples/code_mode.py"
is "$out" 'tools.list_orders(state): the orders in a state
tools.get_customer(customer): name and mail of a customer
tools.get_stock(item): how many of an item are there
tools.send_mail(to, text): sends a mail
tools.refund(order, reason): gives the money of an order back
--- the program: ok
refunded order 12
refused: bad_arguments
refused: failed
refused: bad_arguments
--- the host: {"get_customer": 1, "get_stock": 3, "list_orders": 1, "refund": 3, "send_mail": 2}
mail to bo@example.org: Sorry, Bo: 200 come back for lamp.' "calls the host's functions, and what breaks their rules is refused"
like "$(cectl show last)" 'refund.*bad_arguments' "the record has the calls"

# --- states ------------------------------------------------------------------------------------------

exits 0 "tree_search.py" /usr/bin/python3 "$examples/tree_search.py"
like "$out" 'subtract 2: exit, undone' "a branch that dies is undone"
is "${out##*$'own log:\n'}" "add 3 -> 4
double -> 8
double -> 16
double -> 32
add 3 -> 35
add 3 -> 38
add 3 -> 41" "the log in the session has the steps of the best branch, and no others"
like "$out" 'reached 41 in 7 steps' "and the search arrives"
is "$(cectl session list 2>&1)" "cectl: no session is open" "and closes its session"
session=$(json "$(cectl runs -n 1 --json)" 'it["runs"][0]["session"]')
tree=$(cectl session show "$session")
like "$tree" "^session $session is over"$'\n' "session show knows sessions that are over"
is "$(grep -c ' exit  undone$' <<<"$tree")" 1 "with the cell that was undone"
like "$tree" $'\n {4,} +[0-9]+  n = n \\* 2' "and indents branches"
like "$(cectl show last)" "session +$session, cell 23, began in state" "show tells the session of a cell"
exits 1 "session show of none" cectl session show 01JD3H3V6T6Q2Y4N8C5R7W9XZA
like "$err" 'no cell of session 01JD3H3V6T6Q2Y4N8C5R7W9XZA is known' "says so"
exits 2 "session show wants one" cectl session show
done_testing
