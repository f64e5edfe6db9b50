#include "cli/verification.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/offline.h"
#include "cli/page.h"
#include "proto/base/container.h"
#include "proto/fill.h"

#define AT_ONCE     10000 /* links, blobs, lines in one question */
#define ARENA_BYTES ((size_t)4 << 30)
#define PATIENCE_MS INT64_C(600000) /* for one question: a check goes through whole tables */

// clang-format off
/* In the order in which they are told; how much of the bar each gets: as long as it takes, roughly. */
static const struct {
	const char *name;
	const char *unit;
	int64_t at_once;
	double weight;
	unsigned track;
} parts[VERIFICATION_PARTS] = {
	{ "chain",       "links",       AT_ONCE, 0.45, 0 },
	{ "blobs",       "blobs",       AT_ONCE, 0.05, 0 },
	{ "tables",      "checks",      1,       0.48, 1 },
	{ "checkpoints", "checkpoints", AT_ONCE, 0.01, 0 },
	{ "second",      "lines of the second file", AT_ONCE, 0.01, 0 },
};
// clang-format on

const char *verification_part_name(size_t part)
{
	return parts[part].name;
}

const char *verification_part_unit(size_t part)
{
	return parts[part].unit;
}

/* A range is one of links. */
static bool is_wanted(const struct verification *verification, size_t part)
{
	return part == 0 || (!verification->from && !verification->to);
}

/* ---- on a track ---------------------------------------------------------------------------- */

static struct value *params_of(
	struct verification_track *track, size_t part, int64_t from, int64_t count)
{
	const struct verification *verification = track->verification;
	struct arena *arena = &track->cli.arena;
	struct value *params = value_map(arena);
	bool is_second = strcmp(parts[part].name, "second") == 0;

	value_map_put(arena, params, "part", value_text(arena, parts[part].name));
	value_map_put(arena, params, "from", value_int(arena, from));
	value_map_put(arena, params, "count", value_int(arena, count));
	if (verification->key)
		value_map_put(arena, params, "key", value_text(arena, verification->key));
	if (verification->second && is_second)
		value_map_put(arena, params, "second", value_text(arena, verification->second));
	return params;
}

static int add_problems(struct arena *arena, struct value *list, const struct value *more)
{
	for (size_t i = 0; value_at(more, i); i++) {
		struct value *copy = arena_new(arena, struct value);

		if (list->list.count >= VERIFICATION_LISTED)
			return 0;
		if (!copy)
			return -1;
		*copy = *value_at(more, i);
		if (value_list_add(arena, list, copy) < 0)
			return -1;
	}
	return 0;
}

/* Whether to go on. */
static bool take_report(struct verification_track *track, size_t number, int64_t first)
{
	struct verification *verification = track->verification;
	struct verification_part *part = &verification->parts[number];
	int64_t of = page_int(track->answer, "of");
	int64_t next = page_int(track->answer, "next");
	bool stopped;

	if (!part->problems)
		part->problems = value_list(&track->cli.arena);
	if (!part->problems || add_problems(&track->cli.arena, part->problems,
				       value_get(track->answer, "problems")) < 0) {
		track->status = err_set(&track->err, ERR_MEMORY, "not enough memory for this");
		return false;
	}
	pthread_mutex_lock(&verification->lock);
	track->part = number;
	part->checked += page_int(track->answer, "checked");
	part->found += page_int(track->answer, "found");
	if (number == 0)
		verification->links = of;
	part->done = next ? (double)(next - first) / (double)(of - first + 1) : 1;
	stopped = verification->stopped;
	pthread_cond_signal(&verification->moved);
	pthread_mutex_unlock(&verification->lock);
	return !stopped;
}

/* As far as is wanted: the daemon records on, and what comes meanwhile is for the next time. */
static bool verify_part(struct verification_track *track, size_t part)
{
	static const struct client_watch patient = { .timeout_ms = PATIENCE_MS };
	const struct verification *verification = track->verification;
	int64_t first = part == 0 && verification->from ? verification->from : 1;
	int64_t last = part == 0 ? verification->to : 0;
	int64_t from = first;

	while (from && (!last || from <= last)) {
		int64_t count = parts[part].at_once;

		if (last && last - from + 1 < count)
			count = last - from + 1;
		track->status = cli_ask_quietly(&track->cli, "audit.verify",
			params_of(track, part, from, count), &patient, &track->answer, &track->err);
		if (track->status != 0 || !take_report(track, part, first))
			return false;
		if (!last)
			last = page_int(track->answer, "of");
		from = page_int(track->answer, "next");
	}
	return true;
}

static void *go(void *context)
{
	struct verification_track *track = context;
	struct verification *verification = track->verification;
	bool goes_on = true;

	for (size_t part = 0; goes_on && part < VERIFICATION_PARTS; part++)
		if (parts[part].track == track->number && is_wanted(verification, part))
			goes_on = verify_part(track, part);
	pthread_mutex_lock(&verification->lock);
	verification->going--;
	verification->stopped |= track->status != 0;
	pthread_cond_signal(&verification->moved);
	pthread_mutex_unlock(&verification->lock);
	return NULL;
}

/* ---- beside them --------------------------------------------------------------------------- */

/* "30000 links, 4 checks, 0 problems": where each track is. */
static void write_note(const struct verification *verification, char *ret_note, size_t size)
{
	int64_t found = 0;
	size_t len = 0;

	for (size_t i = 0; i < VERIFICATION_TRACKS; i++) {
		size_t part = verification->tracks[i].part;

		if (!is_wanted(verification, part))
			continue;
		cut_printf(ret_note + len, size - len, "%" PRId64 " %s, ",
			verification->parts[part].checked, parts[part].unit);
		len = strlen(ret_note);
	}
	for (size_t part = 0; part < VERIFICATION_PARTS; part++)
		found += verification->parts[part].found;
	cut_printf(ret_note + len, size - len, "%" PRId64 " problems", found);
}

/* With the lock, which others may have while the terminal is slow. */
static void draw(struct verification *verification)
{
	double done = 0;
	double of = 0;
	char note[128];

	for (size_t part = 0; part < VERIFICATION_PARTS; part++) {
		if (!is_wanted(verification, part))
			continue;
		of += parts[part].weight;
		done += parts[part].weight * verification->parts[part].done;
	}
	write_note(verification, note, sizeof(note));
	pthread_mutex_unlock(&verification->lock);
	bar_update(&verification->bar, done / of, note);
	pthread_mutex_lock(&verification->lock);
}

static void begin(struct verification_track *track)
{
	struct verification *verification = track->verification;

	pthread_mutex_lock(&verification->lock);
	track->began = pthread_create(&track->thread, NULL, go, track) == 0;
	if (track->began)
		verification->going++;
	else
		track->status = err_set(&track->err, ERR_SYSTEM, "cannot begin a thread");
	verification->stopped |= !track->began;
	pthread_mutex_unlock(&verification->lock);
}

static void wait_for_all(struct verification *verification)
{
	pthread_mutex_lock(&verification->lock);
	while (verification->going) {
		pthread_cond_wait(&verification->moved, &verification->lock);
		draw(verification);
	}
	pthread_mutex_unlock(&verification->lock);
	for (size_t i = 0; i < VERIFICATION_TRACKS; i++)
		if (verification->tracks[i].began)
			(void)pthread_join(verification->tracks[i].thread, NULL);
	bar_erase(&verification->bar);
}

/* The first that failed speaks for all: most often they failed of the same. */
static int check_status(struct verification *verification)
{
	for (size_t i = 0; i < VERIFICATION_TRACKS; i++) {
		struct verification_track *track = &verification->tracks[i];

		if (track->status != 0)
			return cli_ask_failed(
				&track->cli, track->status, track->answer, &track->err);
	}
	return 0;
}

/* Who asks for links that are not there is not told that all is well. */
static int check_end(struct verification *verification)
{
	struct arena *arena = &verification->cli->arena;
	int64_t asked = verification->to ? verification->to : verification->from;
	struct fill problem = fill_start(arena);
	char message[128];

	if (asked <= verification->links)
		return 0;
	cut_printf(message, sizeof(message),
		"the chain ends at link %" PRId64 ", and link %" PRId64 " was asked for",
		verification->links, asked);
	fill_text(&problem, "what", "missing");
	fill_text(&problem, "message", message);
	fill_int(&problem, "link", verification->links + 1);
	verification->found++;
	return value_list_add(arena, verification->problems, fill_done(&problem));
}

static int join(struct verification *verification)
{
	struct arena *arena = &verification->cli->arena;

	verification->problems = value_list(arena);
	for (size_t i = 0; verification->problems && i < VERIFICATION_PARTS; i++) {
		const struct verification_part *part = &verification->parts[i];

		verification->found += part->found;
		if (add_problems(arena, verification->problems, part->problems) < 0)
			return cli_no_memory(verification->cli);
	}
	if (!verification->problems || check_end(verification) < 0)
		return cli_no_memory(verification->cli);
	return 0;
}

/* ---- a life -------------------------------------------------------------------------------- */

static void init_track(struct verification *verification, unsigned number)
{
	const struct cli *cli = verification->cli;
	struct verification_track *track = &verification->tracks[number];

	*track = (struct verification_track){ .verification = verification,
		.number = number,
		.cli = { .command = cli->command,
			.out = cli->out,
			.err = cli->err,
			.json = cli->json,
			.socket = cli->socket,
			.store = cli->store } };
	arena_init(&track->cli.arena, ARENA_BYTES);
	while (parts[track->part].track != number)
		track->part++;
}

void verification_init(struct verification *verification, struct cli *cli)
{
	*verification = (struct verification){ .cli = cli,
		.bar = { .out = &cli->err, .what = "verifying" } };
	(void)pthread_mutex_init(&verification->lock, NULL);
	(void)pthread_cond_init(&verification->moved, NULL);
	for (unsigned i = 0; i < VERIFICATION_TRACKS; i++)
		init_track(verification, i);
}

int verification_run(struct verification *verification)
{
	int status;

	for (size_t i = 0; i < VERIFICATION_TRACKS; i++)
		if (is_wanted(verification, verification->tracks[i].part))
			begin(&verification->tracks[i]);
	wait_for_all(verification);
	status = check_status(verification);
	return status == 0 ? join(verification) : status;
}

void verification_done(struct verification *verification)
{
	for (size_t i = 0; i < VERIFICATION_TRACKS; i++) {
		struct cli *cli = &verification->tracks[i].cli;

		client_close(cli->client);
		offline_close(cli);
		arena_done(&cli->arena);
	}
	pthread_cond_destroy(&verification->moved);
	pthread_mutex_destroy(&verification->lock);
}
