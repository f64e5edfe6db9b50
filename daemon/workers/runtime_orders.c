#include "daemon/workers/runtime_orders.h"

#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/err.h"
#include "proto/jail_dirs.h"

/*
 * Folders that Debian's interpreters need from the host.  They are read-only in the jail.  A folder
 * that the host lacks is left out.
 */
static const char *const python_tree[] = { "/usr/lib", "/usr/lib64", "/lib", "/lib64",
	"/etc/alternatives", "/usr/share/zoneinfo", NULL };

/*
 * Folders from which a command's zygote takes tools and libraries.  Jobs see nothing else of them.
 */
static const char *const command_tree[] = { "/usr/bin", "/bin", "/usr/lib", "/usr/lib64", "/lib",
	"/lib64", "/etc/alternatives", "/usr/share/zoneinfo", NULL };

/* Debian's node reads parts of itself from these folders; other builds contain these parts. */
static const char *const node_tree[] = { "/usr/bin", "/bin", "/usr/lib", "/usr/lib64", "/lib",
	"/lib64", "/etc/alternatives", "/usr/share/zoneinfo", "/usr/share/nodejs/acorn",
	"/usr/share/nodejs/acorn-walk", "/usr/share/nodejs/cjs-module-lexer",
	"/usr/share/nodejs/minimatch", "/usr/share/nodejs/undici", NULL };

/* Certificates of authorities. */
static const char *const certificates[] = { "/etc/ssl/certs", "/usr/share/ca-certificates",
	"/usr/local/share/ca-certificates", NULL };

/* How each kind of runtime is started. */
static const struct {
	enum priv_runtime_kind kind;
	const char *harness; /* a folder beside our own programs */
	const char *const *tree;
	const char *word;
	const char *args;  /* they come before the configured ones */
	const char *ahead; /* scripts of the harness: orders.h */
} kinds[] = {
	[KIND_PYTHON] = { PRIV_RUNTIME_PYTHON, "python", python_tree, "python", "", "" },
	[KIND_COMMAND] = { PRIV_RUNTIME_COMMAND, "command", command_tree, "command", "", "" },
	[KIND_NODE] = { PRIV_RUNTIME_COMMAND, "command", node_tree, "node",
		"--experimental-vm-modules ",
		" ahead: worker.js cells.js display.js failure.js files.js job.js program.js rehearsal.js "
		"samples.js steady.js tools.js ced-node.so" },
};

static void add_bind(struct priv_runtime *body, const char *path, bool optional)
{
	struct priv_bind *bind = &body->binds[body->bind_count];

	if (body->bind_count == PRIV_BINDS_MAX)
		return;
	cut_printf(bind->path, sizeof(bind->path), "%s", path);
	bind->optional = optional;
	body->bind_count++;
}

/* Writes the zygote's orders: modules, or lists for sandbox/runtimes/command/orders.h. */
static void write_words(
	struct priv_runtime *body, const struct config_runtime *config, bool is_steady)
{
	struct buf words;

	buf_init(&words, sizeof(body->preload) - 1);
	if (config->kind == KIND_PYTHON) {
		(void)buf_printf(&words, "%s%s%s", config->processes ? "+processes " : "",
			is_steady ? "+steady " : "", config->preload);
	} else {
		(void)buf_printf(&words, "args: %s%s tools: %s keep:", kinds[config->kind].args,
			config->args, config->tools);
		for (unsigned i = 0; i < config->bind_count; i++)
			(void)buf_printf(&words, " %s", config->binds[i]);
		(void)buf_append_text(&words, kinds[config->kind].ahead);
	}
	(void)buf_append_byte(&words, '\0');
	cut_printf(body->preload, sizeof(body->preload), "%s", words.bytes ? words.bytes : "");
	buf_done(&words);
}

const char *runtime_orders_folder(const struct config_runtime *config)
{
	return kinds[config->kind].harness;
}

const char *runtime_orders_word(const struct config_runtime *config)
{
	return kinds[config->kind].word;
}

void runtime_orders_write(const struct config_runtime *config, bool is_steady, bool is_networked,
	const char *harness, struct priv_runtime *ret_orders)
{
	/* The spawner accepts each name once.  Only the spawner sees this name. */
	cut_printf(ret_orders->name, sizeof(ret_orders->name), "%.24s%s", config->name,
		is_networked ? ".net"
		: is_steady  ? ".steady"
			     : config->name + strnlen(config->name, 24));
	ret_orders->kind = kinds[config->kind].kind;
	ret_orders->makes_code = config->kind == KIND_NODE;
	ret_orders->networked = is_networked;
	cut_printf(ret_orders->interpreter, sizeof(ret_orders->interpreter), "%s",
		config->interpreter);
	cut_printf(ret_orders->harness, sizeof(ret_orders->harness), "%s", harness);
	write_words(ret_orders, config, is_steady);
	for (const char *const *path = kinds[config->kind].tree; *path; path++)
		add_bind(ret_orders, *path, true);
	for (const char *const *path = certificates; is_networked && *path; path++)
		add_bind(ret_orders, *path, true);
	for (unsigned i = 0; i < config->bind_count; i++)
		add_bind(ret_orders, config->binds[i], false);
}

/* A set whose folder is missing is off, and is no reason for jails to fail. */
void runtime_orders_add_sets(
	const struct config *config, const char *runtime, struct priv_runtime *body)
{
	for (unsigned i = 0; i < config->package_count; i++) {
		const struct config_package *package = &config->packages[i];
		struct priv_bind *bind = &body->binds[body->bind_count];

		if (strcmp(package->runtime, runtime) != 0 || body->bind_count == PRIV_BINDS_MAX)
			continue;
		add_bind(body, package->path, true);
		cut_printf(bind->place, sizeof(bind->place), JAIL_SETS_DIR "/%s", package->name);
	}
}
