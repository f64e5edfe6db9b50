#!/bin/bash
# The page of the client for Python shows what one gets.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/python_client.sh"
. "$here/pages.sh"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
/usr/bin/python3 -c 'import pydantic' 2>/dev/null || bail "python3-pydantic is not here: ./dev setup test installs it"
patient_daemon 'runtime python-data { workers_min = 1 workers_max = 2 }'
type_page "$client/README.md"
is "$page_typed" 13 "the page has its thirteen programs"
done_testing
