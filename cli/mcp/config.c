#include "cli/mcp/config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"
#include "proto/fill.h"

// clang-format off
static const struct client_config {
	const char *name;
	const char *key;   /* of the map of servers */
	const char *extra; /* a key that the entry needs, or NULL ... */
	const char *value; /* ... and its value */
	const char *file;
} clients[] = {
	{ "claude-desktop", "mcpServers",      NULL,     NULL,     "~/.config/Claude/claude_desktop_config.json" },
	{ "claude-code",    "mcpServers",      "type",   "stdio",  ".mcp.json in the project's folder" },
	{ "cursor",         "mcpServers",      NULL,     NULL,     "~/.cursor/mcp.json" },
	{ "vscode",         "servers",         "type",   "stdio",  ".vscode/mcp.json in the project's folder" },
	{ "zed",            "context_servers", "source", "custom", "~/.config/zed/settings.json" },
	{ "windsurf",       "mcpServers",      NULL,     NULL,     "~/.codeium/windsurf/mcp_config.json" },
	{ "gemini-cli",     "mcpServers",      NULL,     NULL,     "~/.gemini/settings.json" },
	{ "cline",          "mcpServers",      NULL,     NULL,     "the file that \"Configure MCP Servers\" opens" },
};
// clang-format on

const char *config_client(size_t index)
{
	return index < COUNT_OF(clients) ? clients[index].name : NULL;
}

int config_help(struct buf *out)
{
	int status = buf_append_text(out, "\nClients that --config knows:\n");

	for (size_t i = 0; status == 0 && i < COUNT_OF(clients); i++)
		status = buf_printf(out, "  %-16s %s\n", clients[i].name, clients[i].file);
	return status;
}

static const struct client_config *find(const char *name, struct nearest *nearest)
{
	for (size_t i = 0; i < COUNT_OF(clients); i++) {
		if (strcmp(clients[i].name, name) == 0)
			return &clients[i];
		nearest_offer(nearest, clients[i].name);
	}
	return NULL;
}

/* A desktop program may have another PATH than a shell: the path of this very program. */
static const char *own_path(struct arena *arena)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));

	return len > 0 && (size_t)len < sizeof(path) ? arena_copy(arena, path, (size_t)len)
						     : "cectl";
}

/* Clients pass on few variables and start elsewhere: a socket that is not a usual one, in full. */
static const char *named_socket(struct cli *cli)
{
	const char *from_env = getenv("CED_SOCKET");
	const char *named = cli->socket ? cli->socket : from_env && from_env[0] ? from_env : NULL;
	char full[PATH_MAX];

	return named && realpath(named, full) ? arena_strdup(&cli->arena, full) : named;
}

static void add_option(struct cli *cli, struct value *args, const char *option, const char *text)
{
	if (!text)
		return;
	value_list_add(&cli->arena, args, value_text(&cli->arena, option));
	value_list_add(&cli->arena, args, value_text(&cli->arena, text));
}

static void add_labels(struct cli *cli, struct value *args, const struct value *labels)
{
	for (size_t i = 0; value_is(labels, VALUE_MAP) && i < labels->map.count; i++)
		add_option(cli, args, "--label",
			arena_printf(&cli->arena, "%s=%s", labels->map.entries[i].key,
				value_as_text(labels->map.entries[i].value)));
}

static struct value *entry_of(
	struct cli *cli, const struct client_config *client, const struct value *defaults)
{
	struct fill entry = fill_start(&cli->arena);
	struct value *args = value_list(&cli->arena);

	value_list_add(&cli->arena, args, value_text(&cli->arena, "mcp"));
	add_option(cli, args, "--socket", named_socket(cli));
	add_option(cli, args, "--policy", value_as_text(value_get(defaults, "policy")));
	add_option(cli, args, "--agent", value_as_text(value_get(defaults, "agent")));
	add_labels(cli, args, value_get(defaults, "labels"));
	fill_optional_text(&entry, client->extra ? client->extra : "type", client->value);
	fill_value(&entry, "command", value_text(&cli->arena, own_path(&cli->arena)));
	fill_value(&entry, "args", args);
	return fill_done(&entry);
}

int config_print(struct cli *cli, const char *name, const struct value *defaults)
{
	struct nearest nearest = NEAREST_OF(name);
	const struct client_config *client = find(name, &nearest);
	struct fill servers;
	struct fill document;

	if (!client)
		return cli_usage(cli, "--config does not know the client %s%s", name,
			nearest_hint(&nearest));
	servers = fill_start(&cli->arena);
	document = fill_start(&cli->arena);
	fill_value(&servers, "ced", entry_of(cli, client, defaults));
	fill_value(&document, client->key, fill_done(&servers));
	say(&cli->err, PAINT_DIM, "For %s, in %s:\n", client->name, client->file);
	return cli_document(cli, fill_done(&document), EXIT_OK);
}
