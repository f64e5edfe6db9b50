/* cectl web: a page in the browser, for one person, that shows what cectl shows. */
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/interrupt.h"
#include "cli/commands/commands.h"
#include "cli/web/server.h"

#define LISTEN_DEFAULT "127.0.0.1:0"

static int tell_json(struct cli *cli, const char *address, const char *url, const char *token)
{
	struct arena *arena = &cli->arena;
	struct value *document = value_map(arena);

	value_map_put(arena, document, "address", value_text(arena, address));
	value_map_put(arena, document, "token", value_text(arena, token));
	value_map_put(arena, document, "url", value_text(arena, url));
	return cli_document(cli, document, 0);
}

/* Where the page is, and what its address means. */
static int tell(struct cli *cli, const struct listener *listener, const struct access *access)
{
	const char *address = listener->path[0]
				      ? arena_printf(&cli->arena, "unix:%s", listener->path)
				      : arena_printf(&cli->arena, "http://%s:%u/",
						listener->address, (unsigned)listener->port);
	const char *before = listener->path[0] ? "http://127.0.0.1:PORT/" : address;
	const char *url = arena_printf(&cli->arena, "%s#token=%s", before, access->token);
	struct err err = ERR_INIT;

	if (!address || !url)
		return cli_no_memory(cli);
	if (cli->json && tell_json(cli, address, url, access->token) != 0)
		return EXIT_SERVICE;
	if (!cli->json) {
		say(&cli->out, PAINT_BOLD, "%s\n", url);
		if (listener->path[0])
			say(&cli->err, PAINT_DIM,
				"cectl: listens on %s; from another host: ssh -L PORT:%s HOST\n",
				output_safe(&cli->arena, address),
				output_safe(&cli->arena, listener->path));
		say(&cli->err, PAINT_DIM,
			"cectl: the address opens a page that shows what you may see, and changes "
			"nothing. Keep it to yourself. ^C ends it.\n");
	}
	return output_done(&cli->out, &err) < 0 ? cli_fail(cli, &err) : 0;
}

/* The page waits for a daemon; the person may have meant another one. */
static void look_for_daemon(struct cli *cli, const char *socket)
{
	struct err err = ERR_INIT;
	struct client *client = client_open(socket, &err);

	if (!client)
		say(&cli->err, PAINT_YELLOW, "cectl: %s; the page waits for it\n",
			output_safe(&cli->arena, err.text));
	client_close(client);
}

static int serve(struct cli *cli, const struct listener *listener)
{
	const char *socket = client_socket_path(cli->socket, &cli->arena);
	struct err err = ERR_INIT;
	struct access access;
	int status;

	if (access_init(&access, listener->address, listener->port, &err) < 0)
		return cli_fail(cli, &err);
	look_for_daemon(cli, socket);
	status = tell(cli, listener, &access);
	if (status == 0 && web_serve(listener, &access, socket, &err) < 0)
		status = cli_fail(cli, &err);
	return status;
}

static int web_run(struct cli *cli)
{
	const char *where = cli_text(cli, "listen");
	struct err err = ERR_INIT;
	struct listener listener;
	int status;

	if (cli->store) {
		(void)cli_fail_with(cli, ERR_UNSUPPORTED,
			"web needs a daemon: read a copy of a store with runs, show and stats");
		return EXIT_SERVICE;
	}
	if (listener_open(where ? where : LISTEN_DEFAULT, &listener, &err) < 0)
		return err.code == ERR_INVALID ? cli_usage(cli, "--listen: %s", err.text)
					       : cli_fail(cli, &err);
	interrupt_catch(); /* a socket file is removed at the end */
	status = serve(cli, &listener);
	listener_close(&listener);
	return status;
}

// clang-format off
const struct command web_command = {
	.name = "web",
	.summary = "a page in the browser: runs as they happen, records, charts, approvals",
	.about = "Serves a page on this host until it is interrupted, and prints its address. The page "
		 "shows runs as they happen, each with its program, findings, output and timeline, "
		 "charts of rate, latency and outcomes, and the runs that wait for approval. It shows "
		 "what the daemon lets you see, and changes nothing.\n\n"
		 "The address holds a token, which is new each time: whoever has the address sees what "
		 "you see. Only loopback addresses and Unix sockets are served.",
	.options = OPTIONS(
		{ 0, "listen", "WHERE", OPTION_TEXT, NULL, NULL,
			"127.0.0.1:PORT, [::1]:PORT or unix:PATH; without it a free port of 127.0.0.1" }),
	.examples = EXAMPLES(
		{ "cectl web", "prints an address to open" },
		{ "cectl web --listen 127.0.0.1:8417", "always the same port, for ssh -L 8417:127.0.0.1:8417" },
		{ "cectl web --listen unix:/run/user/1000/ced-web", "no port; ssh -L 8417:/run/user/1000/ced-web HOST" },
		{ "cectl web --json | jq -r .url", "for a program that opens it" }),
	.run = web_run,
};
// clang-format on
