#include "daemon/request/request_packages.h"

#include <string.h>

#include "daemon/services.h"
#include "daemon/workers/package_sets.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "proto/base/nearest.h"
#include "proto/fill.h"
#include "proto/internal/slotmsg.h"
#include "proto/jail_dirs.h"

static const struct package_sets *sets_of(const struct request *request)
{
	return &request->services->pool->packages;
}

static bool is_of_runtime(const struct request *request, const struct package_set *set)
{
	return strcmp(set->config->runtime, request->runtime->config->name) == 0;
}

static bool may_use(const struct request *request, const struct package_set *set)
{
	return caller_is(&request->caller, ROLE_ADMIN) ||
	       package_set_is_for(set, request->caller.uid, request->caller.gid);
}

/* ---- refusing ------------------------------------------------------------------------------- */

/* Lists the sets that the request could name. */
static const char *usable_names(struct request *request)
{
	const struct package_sets *sets = sets_of(request);
	const char *list = "";

	for (unsigned i = 0; i < sets->count && list; i++)
		if (is_of_runtime(request, &sets->items[i]) && may_use(request, &sets->items[i]))
			list = arena_printf(&request->arena, "%s%s%s", list, list[0] ? ", " : "",
				sets->items[i].config->name);
	return list && list[0] ? list : "none";
}

static const char *unknown_set(struct request *request, const char *at, const char *name)
{
	const struct package_sets *sets = sets_of(request);
	struct nearest nearest = NEAREST_OF(name);

	for (unsigned i = 0; i < sets->count; i++)
		if (is_of_runtime(request, &sets->items[i]) && may_use(request, &sets->items[i]))
			nearest_offer(&nearest, sets->items[i].config->name);
	return arena_printf(&request->arena, "%s: there is no package set \"%s\"%s You can use: %s",
		at, name, nearest.best ? nearest_hint(&nearest) : ".", usable_names(request));
}

static enum packages_answer refuse_set(
	struct job_refusal *ret_refusal, const char *at, const char *message)
{
	*ret_refusal = (struct job_refusal){ at, "value",
		message ? message : "/packages: no memory to say why" };
	return PACKAGES_REFUSED;
}

/* Checks a set that exists. */
static enum packages_answer judge_set(struct request *request, const struct package_set *set,
	const char *at, struct job_refusal *ret_refusal)
{
	const char *name = set->config->name;
	struct arena *arena = &request->arena;

	if (!is_of_runtime(request, set))
		return refuse_set(ret_refusal, at,
			arena_printf(arena,
				"%s: the package set \"%s\" is for %s. For %s there are: %s", at,
				name, set->config->runtime, request->runtime->config->name,
				usable_names(request)));
	if (!may_use(request, set))
		return refuse_set(ret_refusal, at,
			arena_printf(arena,
				"%s: the package set \"%s\" is for other users. You can use: %s",
				at, name, usable_names(request)));
	if (set->state == PACKAGE_READY)
		return PACKAGES_FOUND;
	if (set->state == PACKAGE_OFF)
		return refuse_set(ret_refusal, at,
			arena_printf(arena, "%s: the package set \"%s\" is off: %s", at, name,
				set->why));
	(void)refuse_set(ret_refusal, at,
		arena_printf(arena, "%s: the package set \"%s\" is being checked: try again soon",
			at, name));
	return PACKAGES_CHECKED_NOW;
}

/* ---- node ----------------------------------------------------------------------------------- */

/* Its one set is at /work/node_modules. */
static bool has_modules_of_its_own(const struct request *request)
{
	static const char name[] = SLOTMSG_MODULES;

	for (size_t i = 0; i < request->spec.file_count; i++) {
		const char *path = request->spec.files[i].path;
		size_t len = sizeof(name) - 1;

		if (strncmp(path, name, len) == 0 && (!path[len] || path[len] == '/'))
			return true;
	}
	return false;
}

static enum packages_answer judge_node(struct request *request, struct job_refusal *ret_refusal)
{
	if (request->runtime->config->kind != KIND_NODE || !request->package_count)
		return PACKAGES_FOUND;
	if (request->package_count > 1)
		return refuse_set(ret_refusal, "/packages/1",
			"/packages/1: a program of this language can use one package set, which is at " JAIL_WORK_DIR
			"/" SLOTMSG_MODULES);
	if (has_modules_of_its_own(request))
		return refuse_set(ret_refusal, "/packages",
			"/packages: the request has files in " SLOTMSG_MODULES
			", where the package set would be");
	return PACKAGES_FOUND;
}

/* ---- finding -------------------------------------------------------------------------------- */

static enum packages_answer find_named(struct request *request, struct job_refusal *ret_refusal)
{
	const struct job_spec *spec = &request->spec;

	for (size_t i = 0; i < spec->package_count; i++) {
		const char *at = arena_printf(&request->arena, "/packages/%zu", i);
		const struct package_set *set =
			package_sets_find(sets_of(request), spec->packages[i]);
		enum packages_answer answer;

		if (!at)
			at = "/packages";
		if (!set)
			return refuse_set(
				ret_refusal, at, unknown_set(request, at, spec->packages[i]));
		answer = judge_set(request, set, at, ret_refusal);
		if (answer != PACKAGES_FOUND)
			return answer;
		request->packages[request->package_count++] = set;
	}
	return PACKAGES_FOUND;
}

/* A default set that is off is no reason to run with other modules than usual. */
static enum packages_answer find_default(struct request *request, struct job_refusal *ret_refusal)
{
	const struct package_sets *sets = sets_of(request);

	for (unsigned i = 0; i < sets->count; i++) {
		const struct package_set *set = &sets->items[i];
		enum packages_answer answer;

		if (!set->config->is_default || !is_of_runtime(request, set) ||
			!may_use(request, set))
			continue;
		answer = judge_set(request, set, "/packages", ret_refusal);
		if (answer != PACKAGES_FOUND)
			return answer;
		request->packages[request->package_count++] = set;
	}
	return PACKAGES_FOUND;
}

enum packages_answer request_packages_find(struct request *request, struct job_refusal *ret_refusal)
{
	const struct package_sets *sets = sets_of(request);
	enum packages_answer answer;

	request->package_count = 0;
	if (!sets->count && !request->spec.package_count)
		return PACKAGES_FOUND;
	request->packages = arena_array(&request->arena, const struct package_set *,
		sets->count + request->spec.package_count);
	if (!request->packages)
		return refuse_set(ret_refusal, "/packages", NULL);
	answer = request->spec.has_packages ? find_named(request, ret_refusal)
					    : find_default(request, ret_refusal);
	return answer == PACKAGES_FOUND ? judge_node(request, ret_refusal) : answer;
}

/* ---- using ---------------------------------------------------------------------------------- */

struct value *request_packages_stamp(struct request *request)
{
	struct value *list = value_list(&request->arena);

	for (size_t i = 0; i < request->package_count; i++) {
		struct fill fill = fill_start(&request->arena);

		fill_text(&fill, "name", request->packages[i]->config->name);
		fill_text(&fill, "digest", request->packages[i]->config->digest);
		value_list_add(&request->arena, list, fill_done(&fill));
	}
	return list;
}

/* Of a command's sets only those with tools change the program's surroundings. */
void request_packages_give(struct request *request)
{
	struct execution *execution = &request->execution;
	enum config_kind kind = request->runtime->config->kind;
	const char **names = arena_array(&request->arena, const char *, request->package_count);

	if (kind == KIND_NODE)
		execution->modules = request->packages[0]->config->name;
	if (kind == KIND_NODE || !names)
		return;
	execution->packages = names;
	for (size_t i = 0; i < request->package_count; i++)
		if (kind == KIND_PYTHON || request->packages[i]->config->has_tools)
			names[execution->package_count++] = request->packages[i]->config->name;
}
