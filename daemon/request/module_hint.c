#include "daemon/request/module_hint.h"

#include <string.h>

#include "daemon/request/request_packages.h"
#include "daemon/services.h"
#include "daemon/workers/package_sets.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"

#define MISSING   "No module named '"
#define NO_SHARED "[Errno 2] No such file or directory: '/usr/share/"

static struct bytes word_after(const char *message, const char *before, const char *ends)
{
	if (!message || strncmp(message, before, strlen(before)) != 0)
		return (struct bytes){ NULL, 0 };
	message += strlen(before);
	return (struct bytes){ message, strcspn(message, ends) };
}

/*
 * Returns "numpy" for "No module named 'numpy.random'", and for its data in /usr/share, which only a
 * runtime that is made for it has.  Empty for any other error.
 */
static struct bytes missing_module(const struct facts *facts)
{
	const char *message = value_as_text(value_get(facts->error, "message"));

	if (facts_error_is(facts, "ModuleNotFoundError"))
		return word_after(message, MISSING, "'.");
	if (facts_error_is(facts, "FileNotFoundError"))
		return word_after(message, NO_SHARED, "'/");
	return (struct bytes){ NULL, 0 };
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

/* The run's own runtime or set has it, and lacks only a submodule. */
static bool has_module(const struct request *request, struct bytes module)
{
	if (runtime_has_module(request->runtime, module))
		return true;
	for (size_t i = 0; i < request->packages.count; i++)
		if (package_set_has_module(request->packages.sets[i], module))
			return true;
	return false;
}

/* Folders of other sets are no modules. */
static bool is_of_python(const struct request *request, const struct package_set *set)
{
	const struct runtime *runtime = pool_find(request->services->pool, set->config->runtime);

	return runtime && runtime->config->kind == KIND_PYTHON;
}

/* A set of this runtime, or of the others, that the caller may use. */
static const struct package_set *set_with(
	struct request *request, struct bytes module, bool of_this)
{
	const struct package_sets *sets = &request->services->pool->packages;
	const struct wish wish = request_wish(request);

	for (unsigned i = 0; i < sets->count; i++) {
		const struct package_set *set = &sets->items[i];
		bool is_own = strcmp(set->config->runtime, request->runtime->config->name) == 0;

		if (is_own == of_this && is_of_python(request, set) &&
			packages_may_use(&wish, set) && package_set_has_module(set, module))
			return set;
	}
	return NULL;
}

/* What has the module, and what to write.  NULL: nothing has it. */
static const char *hint_of(struct request *request, struct bytes module)
{
	const struct package_set *set = set_with(request, module, true);
	const struct runtime *other = set ? NULL : runtime_with(request, module);
	/* A cell has the language and the sets that its session was opened with. */
	const char *what = request->session ? "open a session" : "run it";

	if (other)
		return arena_printf(&request->arena,
			"the runtime %s has %.*s: %s with language \"%s\"", other->config->name,
			(int)module.len, module.data, what, other->config->name);
	if (set)
		return arena_printf(&request->arena,
			"the package set %s has %.*s: %s with packages [\"%s\"]", set->config->name,
			(int)module.len, module.data, what, set->config->name);
	set = set_with(request, module, false);
	return !set ? NULL
		    : arena_printf(&request->arena,
			      "the package set %s has %.*s: %s with language \"%s\" and packages "
			      "[\"%s\"]",
			      set->config->name, (int)module.len, module.data, what,
			      set->config->runtime, set->config->name);
}

void module_hint_add(struct request *request, const struct facts *facts)
{
	struct job_result *result = &request->result;
	const struct bytes module = missing_module(facts);
	const char *hint;
	const char *reason;

	if (result->outcome != OUTCOME_EXCEPTION || !module.len || has_module(request, module))
		return;
	hint = hint_of(request, module);
	reason = hint ? arena_printf(&request->arena, "%s; %s", result->reason, hint) : NULL;
	if (reason)
		result->reason = reason;
}
