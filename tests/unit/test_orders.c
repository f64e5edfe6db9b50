#include <stdio.h>
#include <string.h>

#include "sandbox/runtimes/command/orders.h"
#include "tests/check.h"

static struct err err = ERR_INIT;
static struct orders orders;

static int read_orders(const char *text)
{
	static char copy[8192];

	(void)snprintf(copy, sizeof(copy), "%s", text);
	return orders_read(copy, &orders, &err);
}

static bool has_tool(const char *name)
{
	for (size_t i = 0; orders.tools[i]; i++)
		if (strcmp(orders.tools[i], name) == 0)
			return true;
	return false;
}

TEST(lists_are_read_in_any_order)
{
	CHECK_EQ_INT(read_orders("keep: /usr/share/perl /opt/x  args: -w -T tools: grep sed"), 0);
	CHECK_STR(orders.args[0], "-w");
	CHECK_STR(orders.args[1], "-T");
	CHECK(orders.args[2] == NULL);
	CHECK_STR(orders.keep[1], "/opt/x");
	CHECK(has_tool("grep") && has_tool("sed") && !has_tool("ls"));
}

TEST(an_interpreter_is_started_ahead_with_scripts_of_ours)
{
	CHECK_EQ_INT(read_orders("args: tools: keep: /opt/x ahead: worker.js"), 0);
	CHECK_STR(orders.ahead[0], "worker.js");
	CHECK_EQ_INT(read_orders("ahead: worker.js other.js"), 0);
	CHECK_STR(orders.ahead[1], "other.js");
	CHECK_EQ_INT(read_orders("ahead: 1.js 2.js 3.js 4.js 5.js 6.js 7.js 8.js 9.js 10.js 11.js "
				 "12.js 13.js 14.js 15.js 16.js 17.js"),
		-1);
	CHECK_EQ_INT(read_orders("ahead: ../etc"), -1);
}

TEST(nothing_at_all_is_an_order_too)
{
	CHECK_EQ_INT(read_orders(""), 0);
	CHECK_EQ_INT(read_orders("args: tools: keep:"), 0);
	CHECK(!orders.args[0] && !orders.tools[0] && !orders.keep[0]);
}

TEST(coreutils_stands_for_all_of_them_and_no_more)
{
	CHECK_EQ_INT(read_orders("tools: coreutils awk"), 0);
	CHECK(has_tool("[") && has_tool("ls") && has_tool("sha512sum") && has_tool("yes"));
	CHECK(has_tool("awk"));
	CHECK(!has_tool("grep") && !has_tool("chroot") && !has_tool("stdbuf") &&
		!has_tool("coreutils"));
}

TEST(a_tool_is_a_name_and_not_a_path)
{
	CHECK_EQ_INT(read_orders("tools: /usr/bin/env"), -1);
	CHECK_EQ_INT(read_orders("tools: .."), -1);
	CHECK(strstr(err.text, ".."));
}

TEST(words_without_a_list_and_lists_without_end_are_refused)
{
	char many[2048] = "args:";

	CHECK_EQ_INT(read_orders("-w args: -T"), -1);
	for (int i = 0; i <= ORDERS_ARGS_MAX; i++)
		(void)strcat(many, " -x");
	CHECK_EQ_INT(read_orders(many), -1);
	CHECK(err.code == ERR_TOO_BIG);
}
