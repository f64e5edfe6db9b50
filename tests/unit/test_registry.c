#include <stdlib.h>
#include <string.h>

#include "daemon/request/registry.h"
#include "daemon/request/request.h"
#include "tests/check.h"

#define FIRST  "01ARZ3NDEKTSV4RRFFQ69G5FA1"
#define SECOND "01ARZ3NDEKTSV4RRFFQ69G5FA2"
#define OTHER  "01BX5ZZKBKACTAV9WEVGEMMVRZ"

struct heard {
	unsigned renamed, removed;
	char old_id[RUN_ID_LEN + 1], run_id[RUN_ID_LEN + 1], ended[RUN_ID_LEN + 1];
};

static void on_renamed(void *owner, const char *old_id, const char *run_id)
{
	struct heard *heard = owner;

	heard->renamed++;
	cut_printf(heard->old_id, sizeof(heard->old_id), "%s", old_id);
	cut_printf(heard->run_id, sizeof(heard->run_id), "%s", run_id);
}

static void on_ended(void *owner, const struct run_end *end)
{
	struct heard *heard = owner;

	cut_printf(heard->ended, sizeof(heard->ended), "%s", end->run_id);
}

static void on_removed(void *owner)
{
	struct heard *heard = owner;

	heard->removed++;
}

static void open_registry(struct run_registry *registry, struct heard *heard)
{
	const struct registry_events events = { on_ended, on_renamed, on_removed, heard };

	memset(heard, 0, sizeof(*heard));
	registry_init(registry, &events);
}

static struct request *run_called(const char *run_id)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		abort();
	cut_printf(request->result.run_id, sizeof(request->result.run_id), "%s", run_id);
	return request;
}

TEST(a_run_is_found_by_its_id_from_its_start_to_its_end)
{
	struct run_registry registry;
	struct heard heard;
	struct request *run = run_called(FIRST);

	open_registry(&registry, &heard);
	CHECK(registry_find(&registry, FIRST) == NULL);
	CHECK_EQ_INT(registry_add(&registry, run), 0);
	CHECK(registry_find(&registry, FIRST) == run);
	CHECK(registry_find(&registry, SECOND) == NULL);
	CHECK_EQ_INT(registry_count(&registry), 1);
	registry_tell_end(&registry, &(struct run_end){ .run_id = FIRST });
	CHECK_STR(heard.ended, FIRST);
	registry_remove(&registry, run);
	CHECK(registry_find(&registry, FIRST) == NULL);
	CHECK_EQ_INT(registry_count(&registry), 0);
	CHECK_EQ_INT(heard.removed, 1);
	registry_done(&registry);
	free(run);
}

TEST(a_run_that_gets_another_id_is_found_by_that_alone)
{
	struct run_registry registry;
	struct heard heard;
	struct request *run = run_called(FIRST);

	open_registry(&registry, &heard);
	CHECK_EQ_INT(registry_add(&registry, run), 0);
	CHECK_EQ_INT(registry_rename(&registry, run, OTHER), 0);
	CHECK(registry_find(&registry, FIRST) == NULL);
	CHECK(registry_find(&registry, OTHER) == run);
	CHECK_STR(run->result.run_id, OTHER);
	CHECK_EQ_INT(heard.renamed, 1);
	CHECK_STR(heard.old_id, FIRST);
	CHECK_STR(heard.run_id, OTHER);
	registry_remove(&registry, run);
	registry_done(&registry);
	free(run);
}

TEST(a_place_is_taken_by_a_run_and_by_one_that_is_about_to_have_it)
{
	struct run_registry registry;
	struct heard heard;
	struct request *run = run_called(FIRST);

	open_registry(&registry, &heard);
	CHECK_EQ_INT(registry_add(&registry, run), 0);
	CHECK(registry_has_place(&registry, FIRST));
	CHECK(!registry_has_place(&registry, OTHER));
	run->spec.run_id = OTHER;
	CHECK(!registry_has_place(&registry, OTHER));
	run->contract = CONTRACT_NAMING;
	CHECK(registry_has_place(&registry, OTHER));
	registry_remove(&registry, run);
	registry_done(&registry);
	free(run);
}

static int stop_at(void *context, struct request *request)
{
	return strcmp(request->result.run_id, context) == 0 ? 7 : 0;
}

TEST(a_walk_over_the_runs_ends_where_the_caller_says)
{
	struct run_registry registry;
	struct heard heard;
	struct request *first = run_called(FIRST);
	struct request *second = run_called(SECOND);

	open_registry(&registry, &heard);
	CHECK_EQ_INT(registry_add(&registry, first), 0);
	CHECK_EQ_INT(registry_add(&registry, second), 0);
	CHECK_EQ_INT(registry_each(&registry, stop_at, (char[]){ SECOND }), 7);
	CHECK_EQ_INT(registry_each(&registry, stop_at, (char[]){ OTHER }), 0);
	registry_remove(&registry, first);
	registry_remove(&registry, second);
	registry_done(&registry);
	free(first);
	free(second);
}
