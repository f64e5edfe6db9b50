#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/settings/layers.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "tests/check.h"

static const struct priv_host rich = {
	.mode = PRIV_MODE_ROOT,
	.memory = PRIV_CGROUP_V2,
	.pids = PRIV_CGROUP_V2,
	.cpu = PRIV_CGROUP_V2,
	.cgroup_kill = 1,
	.landlock_abi = 4,
};

/* A kernel that has Landlock but was started without it. */
static const struct priv_host poor = {
	.mode = PRIV_MODE_USER,
	.landlock_abi = -EOPNOTSUPP,
	.why_not = "for this reason",
};

TEST(each_layer_is_known_by_its_name)
{
	for (enum layer layer = 0; layer < LAYER_COUNT; layer++) {
		CHECK_EQ_INT(layer_named(layer_word(layer)), layer);
		CHECK(layer_is_held(layer, &rich));
		CHECK(!layer_is_held(layer, &poor));
	}
	CHECK_EQ_INT(layer_named(""), -1);
	CHECK_EQ_INT(layer_named("moon"), -1);
}

TEST(a_host_that_gives_all_is_enough_for_every_wish)
{
	const struct layers_wish all = { true, true, (1U << LAYER_COUNT) - 1 };
	struct err err = ERR_INIT;

	CHECK_EQ_INT(layers_check(&all, &rich, &err), 0);
}

TEST(each_layer_that_is_named_ends_the_start_of_a_host_without_it)
{
	for (enum layer layer = 0; layer < LAYER_COUNT; layer++) {
		const struct layers_wish one = { false, true, 1U << layer };
		struct err err = ERR_INIT;

		CHECK_EQ_INT(layers_check(&one, &poor, &err), -1);
		CHECK_EQ_INT(err.code, ERR_UNSUPPORTED);
		CHECK(strstr(err.text, layer_word(layer)));
	}
}

TEST(cgroups_that_are_required_are_missed_together_with_the_reason)
{
	const struct layers_wish wish = { true, true, 0 };
	struct err err = ERR_INIT;

	CHECK_EQ_INT(layers_check(&wish, &poor, &err), -1);
	CHECK(strstr(err.text, "memory, pids, cpu (for this reason)"));
}

TEST(an_empty_list_asks_for_nothing_and_no_list_for_what_the_kernel_has)
{
	const struct layers_wish empty = { false, true, 0 };
	const struct layers_wish none = { false, false, 0 };
	struct priv_host without = poor; /* a kernel built without Landlock */
	struct err err = ERR_INIT;

	without.landlock_abi = -ENOSYS;
	CHECK_EQ_INT(layers_check(&empty, &poor, &err), 0);
	CHECK_EQ_INT(layers_check(&none, &without, &err), 0);
	CHECK_EQ_INT(layers_check(&none, &poor, &err), -1);
	CHECK(strstr(err.text, "not here: landlock ("));
}

TEST(a_look_at_the_kernel_needs_nobody)
{
	struct priv_host host;

	layers_look(&host);
	CHECK(host.landlock_abi > 0 || host.landlock_abi < 0);
}

/* Captures what one call writes to stderr. */
static void capture(const struct layers_wish *wish, char text[4096])
{
	int kept = dup(STDERR_FILENO);
	struct err err = ERR_INIT;
	ssize_t len;
	int fds[2];

	text[0] = '\0';
	if (kept < 0 || pipe(fds) < 0)
		return;
	(void)dup2(fds[1], STDERR_FILENO);
	(void)layers_check(wish, &poor, &err);
	(void)dup2(kept, STDERR_FILENO);
	close(kept);
	close(fds[1]);
	len = read(fds[0], text, 4095);
	text[len > 0 ? len : 0] = '\0';
	close(fds[0]);
}

TEST(each_layer_that_is_missing_is_one_line_that_names_the_repair)
{
	const struct layers_wish wish = { true, true, 0 };
	char text[4096];
	unsigned lines = 0;

	capture(&wish, text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		bool required = strncmp(line, "<3>", 3) == 0;

		CHECK(strstr(line, "layer.missing layer="));
		CHECK(strstr(line, " repair="));
		CHECK(required != (strstr(line, " instead=") != NULL));
		lines++;
	}
	CHECK_EQ_INT(lines, LAYER_COUNT);
}

TEST(what_is_missing_is_listed_by_name)
{
	struct arena arena;

	arena_init(&arena, 65536);
	CHECK(value_at(layers_missing(&rich, &arena), 0) == NULL);
	CHECK_STR(
		value_as_text(value_at(layers_missing(&poor, &arena), LAYER_LANDLOCK)), "landlock");
	CHECK(value_at(layers_missing(&poor, &arena), LAYER_COUNT) == NULL);
	arena_done(&arena);
}
