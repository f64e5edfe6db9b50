#!/bin/bash
# What the page for administrators shows of reading the record is what they get.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/pages.sh"
daemon_start
type_page "$here/../../docs/operations/record.md" --section "Reading the record" --measured
((page_typed >= 8))
ok $? "there is something to type: $page_typed commands"
done_testing
