#include "cli/mcp/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/safe.h"

#define CLOSE_BYTES 4096

struct opened {
	struct list link;
	char id[RUN_ID_MAX];
	bool closing;   /* the daemon was asked to close it */
	uint32_t asked; /* the id of that question */
};

static struct opened *of_link(struct list *link)
{
	return container_of(link, struct opened, link);
}

static void forget(struct opened *session)
{
	list_remove(&session->link);
	free(session);
}

void sessions_init(struct server *server)
{
	list_init(&server->sessions);
}

void sessions_done(struct server *server)
{
	list_for_each(link, &server->sessions)
		forget(of_link(link));
}

/* Without memory for it, the session ends by its limit for idle ones. */
void sessions_opened(struct server *server, const char *id)
{
	struct opened *session = calloc(1, sizeof(*session));

	if (!session)
		return;
	cut_printf(session->id, sizeof(session->id), "%s", id);
	list_append(&server->sessions, &session->link);
}

void sessions_ended(struct server *server, const char *id)
{
	list_for_each(link, &server->sessions) {
		if (strcmp(of_link(link)->id, id) == 0)
			forget(of_link(link));
	}
}

static int ask_close(struct server *server, struct opened *session)
{
	struct err err = ERR_INIT;
	struct arena arena;
	struct value *params;

	arena_init(&arena, CLOSE_BYTES);
	params = value_map(&arena);
	value_map_put(&arena, params, "session", value_text(&arena, session->id));
	session->closing =
		link_ask(&server->link, "session.close", params, &session->asked, &err) == 0;
	arena_done(&arena);
	return session->closing ? 0 : -1;
}

int sessions_close(struct server *server)
{
	list_for_each(link, &server->sessions) {
		struct opened *session = of_link(link);

		if (!session->closing && ask_close(server, session) < 0)
			return -1;
	}
	return 0;
}

/* Also after an error: then it has ended already. */
bool sessions_answered(struct server *server, uint32_t asked)
{
	list_for_each(link, &server->sessions) {
		struct opened *session = of_link(link);

		if (session->closing && session->asked == asked) {
			forget(session);
			return true;
		}
	}
	return false;
}

void sessions_lost(struct server *server)
{
	list_for_each(link, &server->sessions)
		of_link(link)->closing = false;
}

bool sessions_wait(const struct server *server)
{
	return !list_is_empty(&server->sessions);
}
