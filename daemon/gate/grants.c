#include "daemon/gate/grants.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"

void grants_init(struct grants *grants)
{
	list_init(&grants->list);
	grants->count = 0;
}

static void grant_free(struct grants *grants, struct grant *grant)
{
	list_remove(&grant->link);
	grants->count--;
	free(grant);
}

void grants_done(struct grants *grants)
{
	list_for_each(at, &grants->list)
		grant_free(grants, container_of(at, struct grant, link));
}

static int load(void *context, const struct store_grant *grant)
{
	return grants_add(context, grant);
}

int grants_load(struct grants *grants, struct store *store, struct err *err)
{
	return store_each_grant(store, load, grants, err);
}

/* Drops expired grants.  Grants without uses stay, since a use may be returned to them. */
static void clear(struct grants *grants)
{
	int64_t now_us = clock_wall_us();

	list_for_each(at, &grants->list) {
		struct grant *grant = container_of(at, struct grant, link);

		if (grant->until_wall_us <= now_us)
			grant_free(grants, grant);
	}
}

struct grant *grants_find(struct grants *grants, uint32_t uid, const char *subject)
{
	clear(grants);
	list_for_each(at, &grants->list) {
		struct grant *grant = container_of(at, struct grant, link);

		if (grant->uid == uid && grant->uses != 0 && !strcmp(grant->subject, subject))
			return grant;
	}
	return NULL;
}

struct grant *grants_get(struct grants *grants, int64_t act)
{
	list_for_each(at, &grants->list) {
		struct grant *grant = container_of(at, struct grant, link);

		if (grant->act == act)
			return grant;
	}
	return NULL;
}

bool grants_have_room(struct grants *grants)
{
	clear(grants);
	list_for_each(at, &grants->list) {
		struct grant *grant = container_of(at, struct grant, link);

		if (grants->count >= GRANTS_MOST && grant->uses == 0)
			grant_free(grants, grant);
	}
	return grants->count < GRANTS_MOST;
}

int grants_add(struct grants *grants, const struct store_grant *from)
{
	struct grant *grant = calloc(1, sizeof(*grant));

	if (!grant)
		return -1;
	grant->act = from->act;
	grant->uid = from->uid;
	grant->by = from->by;
	cut_printf(grant->subject, sizeof(grant->subject), "%s", from->subject);
	grant->until_wall_us = from->until_wall_us;
	grant->uses = from->uses;
	list_append(&grants->list, &grant->link);
	grants->count++;
	return 0;
}

void grants_remove(struct grants *grants, int64_t act)
{
	struct grant *grant = grants_get(grants, act);

	if (grant)
		grant_free(grants, grant);
}
