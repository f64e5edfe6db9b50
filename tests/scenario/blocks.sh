# Sourced by tests that type single blocks of a page, where type_page() of pages.sh does not fit.
# shellcheck shell=bash

# block_of PAGE TEST: the block that the page leaves to this test.
block_of() {
	awk -v mark="<!-- typed by $2 -->" '$0 == mark { on = 1; next } on && /^```/ { if (inside) exit; inside = 1; next } inside' "$1"
}

# first_of PAGE LANGUAGE: its first program, and with the language output what that prints.
first_of() {
	awk -v mark="^\`\`\`$2\$" '$0 ~ mark { inside = 1; next } inside && /^```/ { exit } inside' "$1"
}
