/*
 * cectl audit verify, checkpoint and key.
 *
 * The parts of a store are verified on two tracks.  A track is a thread with its own connection
 * (with --store: its own open copy) and its own arena; it asks for its parts one after the other.
 * The main thread draws one bar for both, waits, and reports a failure once.  When a track fails,
 * the other one ends after its current question.
 *
 * Ownership: the problems lie in the arenas of the tracks, until verification_done().
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/session/offline.h"
#include "cli/session/page.h"
#include "cli/terminal/progress.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/digest.h"
#include "proto/fill.h"
#include "proto/sign.h"

#define VERIFICATION_PARTS  5
#define VERIFICATION_TRACKS 2
#define VERIFICATION_LISTED 200 /* problems; the rest is counted */

/* Under the lock while tracks go, but for the list, which is its track's alone. */
struct verification_part {
	int64_t checked;
	int64_t found;
	double done;            /* 0 to 1 */
	struct value *problems; /* NULL: none yet */
};

struct verification_track {
	struct verification *verification;
	unsigned number;
	pthread_t thread;
	bool began;
	struct cli cli;             /* its own, for its questions */
	size_t part;                /* under way; under the lock */
	int status;                 /* as cli_ask_quietly(), of the last question */
	const struct value *answer; /* to it */
	struct err err;             /* where there was none */
};

struct verification {
	struct cli *cli;
	int64_t from, to;         /* only these links of the chain; 0: everything */
	const char *key, *second; /* to go by; NULL: the daemon's own */
	int64_t found;            /* filled in, with what follows */
	int64_t links;            /* that the chain has */
	struct value *problems;   /* in the order of the parts, so many as are listed */
	struct bar bar;
	pthread_mutex_t lock;
	pthread_cond_t moved; /* a track has something to show, or has ended */
	unsigned going;       /* tracks; under the lock */
	bool stopped;         /* the same */
	struct verification_part parts[VERIFICATION_PARTS];
	struct verification_track tracks[VERIFICATION_TRACKS];
};

#define AT_ONCE     10000 /* links, blobs, lines in one question */
#define ARENA_BYTES ((size_t)4 << 30)
#define PATIENCE_MS INT64_C(600000) /* for one question: a check goes through whole tables */

// clang-format off
/* In the order of the report.  `weight` is the part of the bar, roughly the part of the time. */
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

/* Up to the end of the range: links that the daemon adds meanwhile are for the next time. */
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

static void audit_begin(struct verification_track *track)
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

/* A range that does not exist must not pass as verified. */
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

static void verification_init(struct verification *verification, struct cli *cli)
{
	*verification = (struct verification){ .cli = cli,
		.bar = { .out = &cli->err, .what = "verifying" } };
	(void)pthread_mutex_init(&verification->lock, NULL);
	(void)pthread_cond_init(&verification->moved, NULL);
	for (unsigned i = 0; i < VERIFICATION_TRACKS; i++)
		init_track(verification, i);
}

static int verification_run(struct verification *verification)
{
	int status;

	for (size_t i = 0; i < VERIFICATION_TRACKS; i++)
		if (is_wanted(verification, verification->tracks[i].part))
			audit_begin(&verification->tracks[i]);
	wait_for_all(verification);
	status = check_status(verification);
	return status == 0 ? join(verification) : status;
}

static void verification_done(struct verification *verification)
{
	for (size_t i = 0; i < VERIFICATION_TRACKS; i++) {
		struct cli *cli = &verification->tracks[i].cli;

		client_close(cli->client);
		offline_close(cli->copy);
		arena_done(&cli->arena);
	}
	pthread_cond_destroy(&verification->moved);
	pthread_mutex_destroy(&verification->lock);
}

#define SECOND_MAX   ((size_t)12 << 20) /* in one message */
#define KEY_FILE_MAX ((size_t)4096)

/* ---- options -------------------------------------------------------------------------------- */

static int read_number(struct cli *cli, const char *option, int64_t *ret)
{
	const char *text = cli_text(cli, option);
	struct err err = ERR_INIT;
	uint64_t number = 0;

	if (!text)
		return 0;
	if (units_parse_count(text, &number, &err) < 0 || !number || number > INT64_MAX)
		return cli_usage(cli, "--%s: %s is no number of a link", option, text);
	*ret = (int64_t)number;
	return 0;
}

/* A file's text, in the arena. */
static int read_text(struct cli *cli, const char *path, size_t most, const char **ret_text)
{
	auto_free char *text = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	if (read_file(path, most, &text, &len, &err) < 0)
		return cli_fail(cli, &err);
	*ret_text = arena_strdup(&cli->arena, text);
	return *ret_text ? 0 : cli_no_memory(cli);
}

static int read_options(struct verification *verification)
{
	struct cli *cli = verification->cli;
	const char *key = cli_text(cli, "key");
	const char *second = cli_text(cli, "checkpoints");
	int status = read_number(cli, "from", &verification->from);

	if (status == 0)
		status = read_number(cli, "to", &verification->to);
	if (status == 0 && verification->to && verification->to < verification->from)
		status = cli_usage(cli, "--to is before --from");
	if (status == 0 && key &&
		strncmp(key, "ed25519:", 8) != 0) /* it is the first line of a file */
		status = read_text(cli, key, KEY_FILE_MAX, &key);
	if (status == 0 && key)
		verification->key = arena_copy(&cli->arena, key, strcspn(key, "\n"));
	if (status == 0 && second)
		status = read_text(cli, second, SECOND_MAX, &verification->second);
	return status;
}

/* ---- the report ----------------------------------------------------------------------------- */

static int tell_json(struct verification *verification, int status)
{
	struct arena *arena = &verification->cli->arena;
	struct value *document = value_map(arena);
	struct value *checked = value_map(arena);

	for (size_t part = 0; part < VERIFICATION_PARTS; part++)
		value_map_put(arena, checked, parts[part].name,
			value_int(arena, verification->parts[part].checked));
	value_map_put(arena, document, "ok", value_bool(arena, !verification->found));
	value_map_put(arena, document, "checked", checked);
	value_map_put(arena, document, "found", value_int(arena, verification->found));
	value_map_put(arena, document, "problems", verification->problems);
	return cli_document(verification->cli, document, status);
}

static void tell_problem(struct cli *cli, const struct value *problem)
{
	const char *run_id = page_text(cli, problem, "run_id");
	const char *table = page_text(cli, problem, "table");

	say(&cli->out, PAINT_RED, "%s ", output_mark(&cli->out, MARK_BAD));
	say(&cli->out, PAINT_PLAIN, "%s", page_text(cli, problem, "message"));
	if (run_id[0])
		say(&cli->out, PAINT_DIM, "  run %s", run_id);
	if (table[0])
		say(&cli->out, PAINT_DIM, "  %s, row %s", table, page_text(cli, problem, "row"));
	say(&cli->out, PAINT_PLAIN, "\n");
}

static int audit_tell(struct verification *verification)
{
	struct cli *cli = verification->cli;
	int status = verification->found ? EXIT_FAILED : EXIT_OK;

	if (cli->json)
		return tell_json(verification, status);
	for (size_t i = 0; value_at(verification->problems, i); i++)
		tell_problem(cli, value_at(verification->problems, i));
	if (verification->found > (int64_t)verification->problems->list.count)
		say(&cli->out, PAINT_DIM, "and %" PRId64 " more\n",
			verification->found - (int64_t)verification->problems->list.count);
	for (size_t part = 0; part < VERIFICATION_PARTS; part++)
		if (verification->parts[part].checked)
			say(&cli->out, PAINT_PLAIN, "%10" PRId64 " %s\n",
				verification->parts[part].checked, parts[part].unit);
	if (cli->store && !(verification->key && verification->second))
		say(&cli->out, PAINT_DIM,
			"a copy is held against itself alone: who made all of it anew is found with "
			"--key and --checkpoints\n");
	if (verification->found)
		say(&cli->out, PAINT_RED, "%" PRId64 " problems\n", verification->found);
	else
		say(&cli->out, PAINT_GREEN, "no change found\n");
	return status;
}

static int audit_verify_run(struct cli *cli)
{
	struct verification verification;
	int status;

	verification_init(&verification, cli);
	status = read_options(&verification);
	if (status == 0)
		status = verification_run(&verification);
	if (status == 0)
		status = audit_tell(&verification);
	verification_done(&verification);
	return status;
}

// clang-format off
const struct command audit_verify_command = {
	.name = "audit verify",
	.summary = "check the record for changes",
	.about = "For administrators. Checks the chain of digests over all records, every "
		 "record, content and derived table, and the signed checkpoints. Reports what "
		 "was changed, removed, inserted or moved, and where. The daemon keeps running. "
		 "With --store it checks a copy, without a daemon.\n\n"
		 "Exits with 0 when it found nothing and with 1 when it found something.",
	.options = OPTIONS(
		{ 0, "from", "LINK", OPTION_TEXT, NULL, NULL,
			"only the links of the chain from this one on" },
		{ 0, "to", "LINK", OPTION_TEXT, NULL, NULL, "and up to this one" },
		{ 0, "key", "KEY", OPTION_TEXT, NULL, NULL,
			"what `cectl audit key` printed once, or a file with that; else the daemon's own" },
		{ 0, "checkpoints", "FILE", OPTION_TEXT, NULL, NULL,
			"a copy of the second file; else the daemon's own" }),
	.examples = EXAMPLES(
		{ "cectl audit verify", "everything, of the daemon that runs" },
		{ "cectl audit verify --from 1000 --to 2000", "a part of the chain" },
		{ "cectl --store copy.db audit verify --key ced.key --checkpoints kept.log",
			"a copy, by what was kept elsewhere" }),
	.reads_copy = true,
	.run = audit_verify_run,
};
// clang-format on

/* The bytes before an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410). */
static const uint8_t pem_head[] = { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03,
	0x21, 0x00 };

static void show_checkpoint(struct cli *cli, const struct value *result)
{
	if (!value_as_bool(value_get(result, "new"), true))
		say(&cli->err, PAINT_DIM, "cectl: nothing has been recorded since the last one\n");
	say(&cli->out, PAINT_PLAIN, "%s\n", page_text(cli, result, "checkpoint"));
}

static int print_pem(struct cli *cli, const char *key)
{
	uint8_t bytes[sizeof(pem_head) + SIGN_PUBLIC_LEN];
	char text[128];

	if (!key || sign_key_from_text(key, bytes + sizeof(pem_head)) < 0)
		return cli_usage(cli, "the daemon sent no key");
	memcpy(bytes, pem_head, sizeof(pem_head));
	(void)base64_write(bytes, sizeof(bytes), text);
	say(&cli->out, PAINT_PLAIN, "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n",
		text);
	return EXIT_OK;
}

static int run_key(struct cli *cli)
{
	const struct value *result = NULL;
	int status = cli_ask(cli, "audit.key", value_map(&cli->arena), NULL, &result);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	if (cli_flag(cli, "pem"))
		return print_pem(cli, value_as_text(value_get(result, "key")));
	say(&cli->out, PAINT_PLAIN, "%s\n", page_text(cli, result, "key"));
	return EXIT_OK;
}

// clang-format off
const struct command audit_checkpoint_command = {
	.name = "audit checkpoint",
	.summary = "sign the record in its present state",
	.about = "For administrators. Makes a checkpoint and prints it: the length of the chain "
		 "of records, its head, the time, and a signature. The daemon also makes "
		 "checkpoints by itself, after so many records and so much time, and appends "
		 "each to its second file and to the journal. Keep a line of it elsewhere: it "
		 "shows later whether the store was rolled back or replaced (`cectl audit verify "
		 "--checkpoints FILE`).",
	.examples = EXAMPLES(
		{ "cectl audit checkpoint", "sign what has been recorded so far" }),
	.method = "audit.checkpoint",
	.show = show_checkpoint,
};

const struct command audit_key_command = {
	.name = "audit key",
	.summary = "the public key that checkpoints are signed with",
	.about = "For administrators. The secret half is the file audit.key in the state folder "
		 "and never leaves it.",
	.options = OPTIONS(
		{ 0, "pem", NULL, OPTION_FLAG, NULL, NULL, "as openssl and others read it" }),
	.examples = EXAMPLES(
		{ "cectl audit key > ced.key", "keep it elsewhere, for audit verify --key" },
		{ "cectl audit key --pem > ced.pem", "to check a checkpoint without ced" }),
	.run = run_key,
};
// clang-format on
