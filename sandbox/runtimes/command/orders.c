#include "sandbox/runtimes/command/orders.h"

#include <stdbool.h>
#include <string.h>

#include "proto/base/container.h"

static const char *const coreutils[] = { "[", "arch", "b2sum", "base32", "base64", "basename",
	"basenc", "cat", "chgrp", "chmod", "chown", "cksum", "comm", "cp", "csplit", "cut", "date",
	"dd", "df", "dir", "dircolors", "dirname", "du", "echo", "env", "expand", "expr", "factor",
	"false", "fmt", "fold", "groups", "head", "hostid", "id", "install", "join", "link", "ln",
	"logname", "ls", "md5sum", "mkdir", "mkfifo", "mknod", "mktemp", "mv", "nice", "nl",
	"nohup", "nproc", "numfmt", "od", "paste", "pathchk", "pinky", "pr", "printenv", "printf",
	"ptx", "pwd", "readlink", "realpath", "rm", "rmdir", "seq", "sha1sum", "sha224sum",
	"sha256sum", "sha384sum", "sha512sum", "shred", "shuf", "sleep", "sort", "split", "stat",
	"stty", "sum", "sync", "tac", "tail", "tee", "test", "timeout", "touch", "tr", "true",
	"truncate", "tsort", "tty", "uname", "unexpand", "uniq", "unlink", "users", "vdir", "wc",
	"who", "whoami", "yes" };

/* A list of texts that is being filled. */
struct list {
	const char *section; /* the word before this list */
	const char **texts;
	size_t most;
};

static int add(const struct list *list, const char *text, struct err *err)
{
	size_t count = 0;

	while (list->texts[count])
		count++;
	if (count == list->most)
		return err_set(err, ERR_TOO_BIG, "%s more than %zu", list->section, list->most);
	list->texts[count] = text;
	return 0;
}

static bool is_file_name(const char *text)
{
	return *text && !strchr(text, '/') && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

static int add_tool(const struct list *list, const char *name, struct err *err)
{
	if (strcmp(name, "coreutils") != 0)
		return is_file_name(name)
			       ? add(list, name, err)
			       : err_set(err, ERR_INVALID, "%s is not the name of a tool", name);
	for (size_t i = 0; i < COUNT_OF(coreutils); i++)
		if (add(list, coreutils[i], err) < 0)
			return -1;
	return 0;
}

int orders_read(char *text, struct orders *ret_orders, struct err *err)
{
	const struct list lists[] = {
		{ "args:", ret_orders->args, ORDERS_ARGS_MAX },
		{ "tools:", ret_orders->tools, ORDERS_TOOLS_MAX },
		{ "keep:", ret_orders->keep, ORDERS_KEEP_MAX },
		{ "ahead:", ret_orders->ahead, ORDERS_AHEAD_MAX },
	};
	const struct list *list = NULL;
	char *rest = NULL;

	memset(ret_orders, 0, sizeof(*ret_orders));
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		const struct list *begun = NULL;

		for (size_t i = 0; i < COUNT_OF(lists); i++)
			if (strcmp(word, lists[i].section) == 0)
				begun = &lists[i];
		if (begun) {
			list = begun;
			continue;
		}
		if (!list)
			return err_set(err, ERR_INVALID, "%s belongs to no list", word);
		if ((list->texts == ret_orders->tools || list->texts == ret_orders->ahead
				    ? add_tool(list, word, err)
				    : add(list, word, err)) < 0)
			return -1;
	}
	return 0;
}
