#include "daemon/request/registry.h"

#include <string.h>

#include "daemon/request/request.h"
#include "proto/ulid.h"

void registry_init(struct run_registry *registry, const struct registry_events *events)
{
	map_init(&registry->runs);
	registry->events = *events;
}

void registry_done(struct run_registry *registry)
{
	map_done(&registry->runs);
}

int registry_add(struct run_registry *registry, struct request *request)
{
	return map_put(&registry->runs, request->result.run_id, RUN_ID_LEN, request, NULL);
}

void registry_remove(struct run_registry *registry, struct request *request)
{
	(void)map_remove(&registry->runs, request->result.run_id, RUN_ID_LEN);
	registry->events.on_removed(registry->events.owner);
}

int registry_rename(struct run_registry *registry, struct request *request, const char *run_id)
{
	char old[RUN_ID_LEN + 1];

	memcpy(old, request->result.run_id, sizeof(old));
	if (map_put(&registry->runs, run_id, RUN_ID_LEN, request, NULL) < 0)
		return -1;
	(void)map_remove(&registry->runs, old, RUN_ID_LEN);
	cut_printf(request->result.run_id, sizeof(request->result.run_id), "%s", run_id);
	registry->events.on_renamed(registry->events.owner, old, run_id);
	return 0;
}

struct request *registry_find(const struct run_registry *registry, const char *run_id)
{
	return map_get(&registry->runs, run_id, RUN_ID_LEN);
}

struct visit {
	int (*look)(void *context, struct request *request);
	void *context;
};

static int visit_run(void *context, const void *key, size_t key_len, void *value)
{
	const struct visit *visit = context;

	(void)key;
	(void)key_len;
	return visit->look(visit->context, value);
}

int registry_each(const struct run_registry *registry,
	int (*look)(void *context, struct request *request), void *context)
{
	struct visit visit = { look, context };

	return map_each(&registry->runs, visit_run, &visit);
}

static int has_place(void *context, struct request *request)
{
	const char *run_id = context;

	return ulid_same_place(request->result.run_id, run_id) ||
	       (request->contract == CONTRACT_NAMING &&
		       ulid_same_place(request->spec.run_id, run_id));
}

bool registry_has_place(const struct run_registry *registry, const char *run_id)
{
	return registry_each(registry, has_place, (void *)(uintptr_t)run_id) != 0;
}

void registry_tell_end(struct run_registry *registry, const struct run_end *end)
{
	registry->events.on_ended(registry->events.owner, end);
}

size_t registry_count(const struct run_registry *registry)
{
	return registry->runs.count;
}
