#include <string.h>

#include "daemon/methods/methods.h"
#include "daemon/news/events.h"
#include "daemon/services.h"

static unsigned kinds_of(const struct value *list)
{
	unsigned kinds = 0;

	if (!list)
		return (1U << EVENT_KIND_COUNT) - 1U;
	for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
		for (size_t k = 0; k < list->list.count; k++)
			if (!strcmp(value_as_text(list->list.items[k]),
				    event_word((enum event_kind)i)))
				kinds |= 1U << i;
	return kinds;
}

static struct value *describe(struct call *call, const struct subscription *subscription)
{
	struct arena *arena = &call->arena;
	struct value *map = value_map(arena);
	struct value *kinds = value_list(arena);

	for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
		if (subscription->kinds & (1U << i))
			value_list_add(
				arena, kinds, value_text(arena, event_word((enum event_kind)i)));
	value_map_put(arena, map, "kinds", kinds);
	value_map_put(arena, map, "runs",
		value_text(arena, subscription->right == RIGHT_YES ? "all" : "own"));
	return map;
}

void method_subscribe(struct call *call)
{
	const struct value *uid = value_get(call->params, "uid");
	const struct subscription subscription = {
		.right = call->right,
		.kinds = kinds_of(value_get(call->params, "kinds")),
		.has_uid = uid != NULL,
		.uid = (uint32_t)value_as_int(uid, 0),
		.agent = value_as_text(value_get(call->params, "agent")),
		.task = value_as_text(value_get(call->params, "task")),
	};

	if (events_subscribe(call->services->events, call->conn, &subscription))
		call_result(call, describe(call, &subscription));
	else
		call_error(call, RPC_CODE_BUSY,
			"too many subscriptions: at most %d of one user and %d of all",
			EVENTS_PER_UID, EVENTS_MOST);
}
