#!/bin/bash
# What README.md shows is what one gets.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/pages.sh"
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || skip_all "no python3-msgpack here"
daemon_start
type_page "$here/../../README.md" --only console,python
((page_typed >= 4))
ok $? "there is something to type: $page_typed steps"
done_testing
