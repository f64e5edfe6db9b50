#include "daemon/request/module_hint.h"

#include <string.h>

#include "daemon/services.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"

#define MISSING "No module named '"

/* Returns "numpy" for "No module named 'numpy.random'".  Empty for any other error. */
static struct bytes missing_module(const struct facts *facts)
{
	const char *message = value_as_text(value_get(facts->error, "message"));

	if (!facts_error_is(facts, "ModuleNotFoundError") || !message ||
		strncmp(message, MISSING, strlen(MISSING)) != 0)
		return (struct bytes){ NULL, 0 };
	message += strlen(MISSING);
	return (struct bytes){ message, strcspn(message, "'.") };
}

static const struct runtime *runtime_with(const struct request *request, struct bytes module)
{
	const struct pool *pool = request->services->pool;

	for (unsigned i = 0; i < pool->runtime_count; i++)
		if (&pool->runtimes[i] != request->runtime &&
			runtime_has_module(&pool->runtimes[i], module))
			return &pool->runtimes[i];
	return NULL;
}

void module_hint_add(struct request *request, const struct facts *facts)
{
	struct job_result *result = &request->result;
	const struct bytes module = missing_module(facts);
	const struct runtime *other = module.len ? runtime_with(request, module) : NULL;
	const char *reason;

	if (result->outcome != OUTCOME_EXCEPTION || !other)
		return;
	reason = arena_printf(&request->arena,
		"%s; the runtime %s has %.*s: run it with language \"%s\"", result->reason,
		other->config->name, (int)module.len, module.data, other->config->name);
	if (reason)
		result->reason = reason;
}
