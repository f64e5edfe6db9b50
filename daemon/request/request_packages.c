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

static const struct package_sets *sets_of(const struct wish *wish)
{
	return &wish->services->pool->packages;
}

static bool is_of_runtime(const struct wish *wish, const struct package_set *set)
{
	return strcmp(set->config->runtime, wish->runtime->config->name) == 0;
}

bool packages_may_use(const struct wish *wish, const struct package_set *set)
{
	return caller_is(wish->caller, ROLE_ADMIN) ||
	       package_set_is_for(set, wish->caller->uid, wish->caller->gid);
}

/* ---- refusing ------------------------------------------------------------------------------- */

/* Lists the sets that the request could name. */
static const char *usable_names(const struct wish *wish)
{
	const struct package_sets *sets = sets_of(wish);
	const char *list = "";

	for (unsigned i = 0; i < sets->count && list; i++)
		if (is_of_runtime(wish, &sets->items[i]) && packages_may_use(wish, &sets->items[i]))
			list = arena_printf(wish->arena, "%s%s%s", list, list[0] ? ", " : "",
				sets->items[i].config->name);
	return list && list[0] ? list : "none";
}

static const char *unknown_set(const struct wish *wish, const char *at, const char *name)
{
	const struct package_sets *sets = sets_of(wish);
	struct nearest nearest = NEAREST_OF(name);

	for (unsigned i = 0; i < sets->count; i++)
		if (is_of_runtime(wish, &sets->items[i]) && packages_may_use(wish, &sets->items[i]))
			nearest_offer(&nearest, sets->items[i].config->name);
	return arena_printf(wish->arena, "%s: there is no package set \"%s\"%s You can use: %s", at,
		name, nearest.best ? nearest_hint(&nearest) : ".", usable_names(wish));
}

static enum packages_answer refuse_set(
	struct job_refusal *ret_refusal, const char *at, const char *message)
{
	*ret_refusal = (struct job_refusal){ at, "value",
		message ? message : "/packages: no memory to say why" };
	return PACKAGES_REFUSED;
}

/* Checks a set that exists. */
static enum packages_answer judge_set(const struct wish *wish, const struct package_set *set,
	const char *at, struct job_refusal *ret_refusal)
{
	const char *name = set->config->name;
	struct arena *arena = wish->arena;

	if (!is_of_runtime(wish, set))
		return refuse_set(ret_refusal, at,
			arena_printf(arena,
				"%s: the package set \"%s\" is for %s. For %s there are: %s", at,
				name, set->config->runtime, wish->runtime->config->name,
				usable_names(wish)));
	if (!packages_may_use(wish, set))
		return refuse_set(ret_refusal, at,
			arena_printf(arena,
				"%s: the package set \"%s\" is for other users. You can use: %s",
				at, name, usable_names(wish)));
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
static bool has_modules_of_its_own(const struct wish *wish)
{
	static const char name[] = SLOTMSG_MODULES;

	for (size_t i = 0; i < wish->spec->file_count; i++) {
		const char *path = wish->spec->files[i].path;
		size_t len = sizeof(name) - 1;

		if (strncmp(path, name, len) == 0 && (!path[len] || path[len] == '/'))
			return true;
	}
	return false;
}

static enum packages_answer judge_node(
	const struct wish *wish, size_t count, struct job_refusal *ret_refusal)
{
	if (wish->runtime->config->kind != KIND_NODE || !count)
		return PACKAGES_FOUND;
	if (count > 1)
		return refuse_set(ret_refusal, "/packages/1",
			"/packages/1: a program of this language can use one package set, which is at " JAIL_WORK_DIR
			"/" SLOTMSG_MODULES);
	if (has_modules_of_its_own(wish))
		return refuse_set(ret_refusal, "/packages",
			"/packages: the request has files in " SLOTMSG_MODULES
			", where the package set would be");
	return PACKAGES_FOUND;
}

/* ---- finding -------------------------------------------------------------------------------- */

static enum packages_answer find_named(
	const struct wish *wish, struct chosen_packages *chosen, struct job_refusal *ret_refusal)
{
	const struct job_spec *spec = wish->spec;

	for (size_t i = 0; i < spec->package_count; i++) {
		const char *at = arena_printf(wish->arena, "/packages/%zu", i);
		const struct package_set *set = package_sets_find(sets_of(wish), spec->packages[i]);
		enum packages_answer answer;

		if (!at)
			at = "/packages";
		if (!set)
			return refuse_set(
				ret_refusal, at, unknown_set(wish, at, spec->packages[i]));
		answer = judge_set(wish, set, at, ret_refusal);
		if (answer != PACKAGES_FOUND)
			return answer;
		chosen->sets[chosen->count++] = set;
	}
	return PACKAGES_FOUND;
}

/* A default set that is off is no reason to run with other modules than usual. */
static enum packages_answer find_default(
	const struct wish *wish, struct chosen_packages *chosen, struct job_refusal *ret_refusal)
{
	const struct package_sets *sets = sets_of(wish);

	for (unsigned i = 0; i < sets->count; i++) {
		const struct package_set *set = &sets->items[i];
		enum packages_answer answer;

		if (!set->config->is_default || !is_of_runtime(wish, set) ||
			!packages_may_use(wish, set))
			continue;
		answer = judge_set(wish, set, "/packages", ret_refusal);
		if (answer != PACKAGES_FOUND)
			return answer;
		chosen->sets[chosen->count++] = set;
	}
	return PACKAGES_FOUND;
}

enum packages_answer packages_choose(const struct wish *wish, struct chosen_packages *ret_chosen,
	struct job_refusal *ret_refusal)
{
	const struct package_sets *sets = sets_of(wish);
	const size_t most = sets->count + wish->spec->package_count;
	enum packages_answer answer;

	*ret_chosen = (struct chosen_packages){ NULL, 0 };
	if (!most)
		return PACKAGES_FOUND;
	ret_chosen->sets = arena_array(wish->arena, const struct package_set *, most);
	if (!ret_chosen->sets)
		return refuse_set(ret_refusal, "/packages", NULL);
	answer = wish->spec->has_packages ? find_named(wish, ret_chosen, ret_refusal)
					  : find_default(wish, ret_chosen, ret_refusal);
	return answer == PACKAGES_FOUND ? judge_node(wish, ret_chosen->count, ret_refusal) : answer;
}

enum packages_answer request_packages_find(struct request *request, struct job_refusal *ret_refusal)
{
	const struct wish wish = request_wish(request);

	return packages_choose(&wish, &request->packages, ret_refusal);
}

/* ---- using ---------------------------------------------------------------------------------- */

struct value *packages_stamp(struct arena *arena, const struct chosen_packages *chosen)
{
	struct value *list = value_list(arena);

	for (size_t i = 0; i < chosen->count; i++) {
		struct fill fill = fill_start(arena);

		fill_text(&fill, "name", chosen->sets[i]->config->name);
		fill_text(&fill, "digest", chosen->sets[i]->config->digest);
		value_list_add(arena, list, fill_done(&fill));
	}
	return list;
}

/*
 * Of a command's sets only those with tools change the program's surroundings.  The first cell of a
 * session finds them, and later ones have them.
 */
void request_packages_give(struct request *request)
{
	const struct chosen_packages *chosen = &request->packages;
	struct execution *execution = &request->execution;
	enum config_kind kind = request->runtime->config->kind;
	const char **names = arena_array(&request->arena, const char *, chosen->count);

	if (execution->worker && execution->worker->state == WORKER_KEPT)
		return;
	if (kind == KIND_NODE)
		execution->modules = chosen->sets[0]->config->name;
	if (kind == KIND_NODE || !names)
		return;
	execution->packages = names;
	for (size_t i = 0; i < chosen->count; i++)
		if (kind == KIND_PYTHON || chosen->sets[i]->config->has_tools)
			names[execution->package_count++] = chosen->sets[i]->config->name;
}
