#include "daemon/workers/runtime.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/workers/fingerprint.h"
#include "daemon/workers/runtime_orders.h"
#include "daemon/workers/zygote.h"
#include "proto/base/container.h"
#include "proto/base/log.h"

/* ---- its digest ----------------------------------------------------------------------------- */

/*
 * Work on a thread.  The configuration and the pool outlive it.  The runtimes may be freed before
 * it ends, so it has an index.
 */
struct taking {
	struct pool *pool;
	const struct config_runtime *config; /* a twin shares its runtime's */
	unsigned index;
	char harness[CONFIG_TEXT_MAX];
	char digest[DIGEST_TEXT_LEN + 1];
	struct err err;
};

static void take_fingerprint(void *context)
{
	struct taking *taking = context;

	if (fingerprint_runtime(taking->config, taking->harness, taking->digest, &taking->err) < 0)
		taking->digest[0] = '\0';
}

static void on_fingerprint(void *context)
{
	struct taking *taking = context;
	const struct pool *pool = taking->pool;

	if (!taking->digest[0])
		log_event(LOG_LEVEL_WARNING, "runtime.no_digest", LOG_STR("why", taking->err.text));
	if (taking->index < pool->all_count)
		cut_printf(pool->runtimes[taking->index].digest, sizeof(pool->runtimes[0].digest),
			"%s", taking->digest);
	free(taking);
}

void runtime_take_fingerprint(const struct runtime *runtime)
{
	struct taking *taking = calloc(1, sizeof(*taking));

	if (!taking)
		return; /* results have no digest until the next zygote */
	taking->pool = runtime->pool;
	taking->config = runtime->config;
	taking->index = (unsigned)(runtime - runtime->pool->runtimes);
	memcpy(taking->harness, runtime->harness, sizeof(taking->harness));
	if (work_start(runtime->pool->loop, take_fingerprint, on_fingerprint, taking) < 0)
		free(taking);
}

/* ---- describing it -------------------------------------------------------------------------- */

static unsigned count_workers(const struct runtime *runtime, enum worker_state state)
{
	unsigned count = 0;

	list_for_each(zygote_at, &runtime->zygotes) {
		struct zygote *zygote = container_of(zygote_at, struct zygote, link);

		list_for_each(at, &zygote->workers)
			count += container_of(at, struct worker, link)->state == state;
	}
	return count;
}

const char *runtime_language(const struct runtime *runtime)
{
	const struct config_runtime *config = runtime->config;

	if (config->language[0])
		return config->language;
	return config->kind == KIND_PYTHON ? "python" : config->name;
}

bool runtime_holds_rules(const struct runtime *runtime)
{
	return runtime->config->kind == KIND_PYTHON;
}

bool runtime_has_gate(const struct runtime *runtime)
{
	return runtime->config->kind == KIND_PYTHON;
}

bool runtime_reads_stdin_inline(const struct runtime *runtime)
{
	return runtime->config->kind == KIND_NODE;
}

/* Of the interpreters that run commands, bash alone takes cells. */
bool runtime_has_cells(const struct runtime *runtime)
{
	const char *slash = strrchr(runtime->config->interpreter, '/');

	if (runtime->config->kind != KIND_COMMAND)
		return !runtime->config->processes;
	return slash && strcmp(slash + 1, "bash") == 0;
}

bool runtime_forms(
	const struct runtime *runtime, const char *ret_forms[static CONFIG_FORMS_MAX + 1])
{
	unsigned count = runtime->config->form_count;

	for (unsigned i = 0; i < count; i++)
		ret_forms[i] = runtime->config->forms[i];
	ret_forms[count] = NULL;
	return runtime->config->kind == KIND_COMMAND;
}

bool runtime_is_made_of(const struct runtime *runtime, const char *digest)
{
	const struct list *first = list_first(&runtime->zygotes);

	return digest && strcmp(runtime->digest, digest) == 0 && zygote_in_use(runtime) &&
	       first->next == &runtime->zygotes;
}

struct value *runtime_stamp(const struct runtime *runtime, struct arena *arena)
{
	struct value *map = value_map(arena);

	value_map_put(arena, map, "name", value_text(arena, runtime->config->name));
	value_map_put(arena, map, "version",
		value_text(arena, runtime->version[0] ? runtime->version : NULL));
	value_map_put(arena, map, "digest",
		value_text(arena, runtime->digest[0] ? runtime->digest : NULL));
	return map;
}

static bool is_word_of(const char *words, const char *word, size_t len)
{
	for (const char *at = words; (at = strstr(at, word)); at += 1)
		if ((at == words || at[-1] == ' ') && strncmp(at, word, len) == 0 &&
			(at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}

/* Returns the next module that its zygote has imported: a configured one that is not absent. */
static const char *next_imported(const struct runtime *runtime, char *words, char **rest)
{
	for (char *word = strtok_r(words, " ", rest); word; word = strtok_r(NULL, " ", rest))
		if (!is_word_of(runtime->absent, word, strlen(word)))
			return word;
	return NULL;
}

static const char *imported(const struct runtime *runtime, struct arena *arena)
{
	char list[sizeof(runtime->config->preload)] = "";
	char words[sizeof(runtime->config->preload)];
	size_t len = 0;
	char *rest = NULL;
	const char *word;

	cut_printf(words, sizeof(words), "%s", runtime->config->preload);
	for (word = next_imported(runtime, words, &rest); word;
		word = next_imported(runtime, NULL, &rest))
		len += (size_t)snprintf(
			list + len, sizeof(list) - len, "%s%s", len ? " " : "", word);
	return arena_printf(arena, "%s", list);
}

bool runtime_has_module(const struct runtime *runtime, struct bytes name)
{
	char words[sizeof(runtime->config->preload)];
	char *rest = NULL;
	const char *word;

	if (runtime->config->kind != KIND_PYTHON || !runtime->version[0])
		return false;
	cut_printf(words, sizeof(words), "%s", runtime->config->preload);
	for (word = next_imported(runtime, words, &rest); word;
		word = next_imported(runtime, NULL, &rest))
		if (strcspn(word, ".") == name.len && memcmp(word, name.data, name.len) == 0)
			return true;
	return false;
}

struct value *runtime_describe(const struct runtime *runtime, struct arena *arena)
{
	struct value *map = runtime_stamp(runtime, arena);
	static const enum worker_state shown[] = { WORKER_WARM, WORKER_MAKING, WORKER_RUNNING,
		WORKER_ENDING };

	for (unsigned i = 0; i < COUNT_OF(shown); i++)
		value_map_put(arena, map, worker_state_word(shown[i]),
			value_int(arena, count_workers(runtime, shown[i])));
	value_map_put(arena, map, "wanted", value_int(arena, runtime->wanted));
	value_map_put(arena, map, "runs", value_int(arena, (int64_t)runtime->runs));
	value_map_put(arena, map, "waited", value_int(arena, (int64_t)runtime->cold));
	value_map_put(arena, map, "trouble",
		value_text(arena, runtime->trouble[0] ? runtime->trouble : NULL));
	value_map_put(arena, map, "language", value_text(arena, runtime_language(runtime)));
	value_map_put(arena, map, "kind", value_text(arena, runtime_orders_word(runtime->config)));
	value_map_put(arena, map, "preload", value_text(arena, imported(runtime, arena)));
	if (runtime->config->kind == KIND_COMMAND)
		value_map_put(arena, map, "tools", value_text(arena, runtime->config->tools));
	if (runtime->pool->packages.count)
		value_map_put(arena, map, "packages",
			package_sets_describe(
				&runtime->pool->packages, runtime->config->name, arena));
	return map;
}
