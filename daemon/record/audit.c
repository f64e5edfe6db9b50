#include "daemon/record/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/loop/service_manager.h"
#include "daemon/record/checkpoint_file.h"
#include "daemon/settings/config.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/fill.h"
#include "proto/json.h"

#define LOOK_MS         1000 /* how often to check whether a checkpoint is due */
#define DEFAULT_FILE    "checkpoints.log"
#define LAST_LINE_FILE  "checkpoints.told" /* in the state folder */
#define ALARM_BYTES_MAX ((size_t)64 << 10)

/* Logged with an alarm: where the documentation describes the repair. */
#define REPAIR_OF(section) \
	"see `cectl audit verify`, and docs/operations/record.md under \"" section "\""
#define REPAIR_STORE  REPAIR_OF("The store was rolled back")
#define REPAIR_SECOND REPAIR_OF("The second file was removed or cut off")

/* A checkpoint that is being made. */
struct making {
	struct recording recording;
	struct store_checkpoint checkpoint;
	struct audit *audit;
	struct list requests;
	struct err err; /* of the checkpoint file */
	bool failed;
	bool was_cut; /* the file has lost the line written before */
};

static void report_checkpoint(const struct store_checkpoint *made)
{
	char links[24];

	(void)snprintf(links, sizeof(links), "%" PRId64, made->links);
	log_event(LOG_LEVEL_INFO, "audit.checkpoint", LOG_STR("line", made->line));
	host_journal(HOST_NOTICE, "audit.checkpoint", made->line,
		(const struct host_field[]){ { "LINKS", links }, { "LINE", made->line } }, 2);
}

/* ---- the checkpoint file at the start ------------------------------------------------------- */

static int put_act(struct store *store, const struct store_act *act, struct err *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	if (store_put_act(store, act, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, STORE_NOW, err);
}

/* Records the alarm as an act of the daemon's own user. */
static int note_alarm(struct audit *audit, struct store *store, struct err *err)
{
	struct arena arena;
	struct value *map;
	struct bytes result = { "{}", 2 };
	struct store_act act = {
		.at_wall_us = clock_wall_us(),
		.uid = getuid(),
		.gid = getgid(),
		.pid = getpid(),
		.method = "audit.alarm",
		.params = "{}",
	};
	int r;

	arena_init(&arena, ALARM_BYTES_MAX);
	map = value_map(&arena);
	value_map_put(&arena, map, "alarm", value_text(&arena, audit->alarm));
	r = json_write_text(&arena, map, JSON_WRITE_COMPACT, ALARM_BYTES_MAX, &result, err);
	act.result = result.data;
	if (r == 0)
		r = put_act(store, &act, err);
	arena_done(&arena);
	return r;
}

static int raise_alarm(
	struct audit *audit, struct store *store, const char *repair, struct err *err)
{
	const char *wish = audit->config->rollback;

	log_event(LOG_LEVEL_ERROR, "audit.alarm", LOG_STR("why", audit->alarm),
		LOG_STR("file", audit->path), LOG_STR("repair", repair));
	host_journal(HOST_ALERT, "audit.alarm", audit->alarm,
		(const struct host_field[]){ { "FILE", audit->path } }, 1);
	if (strcmp(wish, "refuse") == 0)
		return err_set(err, ERR_CORRUPT,
			"%s: with rollback = \"refuse\" it does not start: put the newest store "
			"back, or write rollback = \"alarm\" to start and keep the alarm",
			audit->alarm);
	return note_alarm(audit, store, err);
}

static int look_at_start(
	struct audit *audit, struct store *store, const struct store_mark *mark, struct err *err)
{
	struct checkpoint_piece piece = { NULL, 0, 0, 0 };
	struct store_trust trust = { .public_key = signer_public(audit->signer) };
	const char *repair = REPAIR_STORE;
	int r;

	if (checkpoint_file_read(audit->path, -1, &piece, err) < 0)
		return -1;
	trust.second = (struct bytes){ piece.text, piece.len };
	checkpoint_file_last_line(audit->last_line_path, trust.last_line, sizeof(trust.last_line));
	r = store_rolled_back(store, &trust, audit->alarm, sizeof(audit->alarm), err);
	if (r == 0) {
		r = store_second_lacks(&trust, audit->alarm, sizeof(audit->alarm));
		repair = mark->words[0] ? REPAIR_STORE : REPAIR_SECOND;
	}
	free(piece.text);
	if (r < 0)
		return -1;
	/* The mark is newer than the last checkpoint, so its finding replaces the file's. */
	if (mark->words[0])
		cut_printf(audit->alarm, sizeof(audit->alarm), "%s", mark->words);
	return r > 0 || mark->words[0] ? raise_alarm(audit, store, repair, err) : 0;
}

static int sign_now(struct store *store, struct store_checkpoint *checkpoint, struct err *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	if (store_put_checkpoint(store, checkpoint, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, STORE_NOW, err);
}

/* Writing an older checkpoint may have failed, or may have gone to another file. */
static int append_to(const char *path, const struct store_checkpoint *made, struct err *err)
{
	return made->is_new ? checkpoint_file_append(path, made->line, err)
			    : checkpoint_file_ensure(path, made->line, err);
}

/* Signs the records since the last checkpoint, in case the last daemon made none at its end. */
static int catch_up(struct audit *audit, struct store *store, struct err *err)
{
	struct store_checkpoint checkpoint = { .signer = audit->signer,
		.at_wall_us = clock_wall_us() };
	struct err why = ERR_INIT;

	if (sign_now(store, &checkpoint, err) < 0)
		return -1;
	audit->links = checkpoint.links;
	if (!checkpoint.line[0])
		return 0;
	if (checkpoint.is_new) {
		audit->at_us = checkpoint.at_wall_us;
		report_checkpoint(&checkpoint);
	}
	if (append_to(audit->path, &checkpoint, &why) < 0 ||
		checkpoint_file_save_last(audit->last_line_path, checkpoint.line, &why) < 0) {
		log_event(LOG_LEVEL_WARNING, "audit.no_checkpoint", LOG_STR("why", why.text));
		cut_printf(audit->trouble, sizeof(audit->trouble), "%s", why.text);
	}
	return 0;
}

/* Reports a file that cannot be opened at the start, not only with the first checkpoint. */
static int audit_hold_file(struct audit *audit, const struct config *config, struct err *err)
{
	struct err why = ERR_INIT;

	if (!config->checkpoint_file[0])
		return 0; /* the store's lock also covers the file beside it */
	audit->file_fd = checkpoint_file_hold(audit->path, &why);
	if (audit->file_fd >= 0)
		return 0;
	if (why.code == ERR_BUSY)
		return err_pass(err, &why);
	log_event(LOG_LEVEL_WARNING, "audit.no_checkpoint", LOG_STR("why", why.text));
	cut_printf(audit->trouble, sizeof(audit->trouble), "%s", why.text);
	return 0;
}

int audit_open(struct audit *audit, uv_loop_t *loop, const struct config *config,
	struct store *store, struct store_clock *ret_clock, struct err *err)
{
	struct store_mark mark = { .words = "" };
	struct err why = ERR_INIT;
	bool is_new = false;
	char key[SIGN_KEY_TEXT_LEN + 1];

	audit->loop = loop;
	audit->config = config;
	list_init(&audit->requests);
	audit->file_fd = -1;
	if (config->checkpoint_file[0])
		cut_printf(audit->path, sizeof(audit->path), "%s", config->checkpoint_file);
	else
		cut_printf(audit->path, sizeof(audit->path), "%s/" DEFAULT_FILE, config->state);
	cut_printf(audit->last_line_path, sizeof(audit->last_line_path), "%s/" LAST_LINE_FILE,
		config->state);
	if (audit_hold_file(audit, config, err) < 0)
		return -1;
	audit->signer = config->audit_key[0] ? signer_open_file(config->audit_key, err)
					     : signer_open(config->state, &is_new, err);
	if (!audit->signer)
		return -1;
	sign_key_text(signer_public(audit->signer), key);
	if (is_new)
		log_event(LOG_LEVEL_NOTICE, "audit.new_key", LOG_STR("key", key));
	if (store_mark_open(store, audit->signer, &mark, err) < 0 ||
		look_at_start(audit, store, &mark, err) < 0)
		return -1;
	*ret_clock = mark.clock;
	if (store_mark_now(store, &why) < 0)
		log_event(LOG_LEVEL_WARNING, "store.no_mark", LOG_STR("why", why.text));
	return catch_up(audit, store, err);
}

/* ---- making one ----------------------------------------------------------------------------- */

static void answer_requests(struct making *making)
{
	struct list *first;

	while ((first = list_first(&making->requests))) {
		struct checkpoint_request *request =
			container_of(first, struct checkpoint_request, link);

		list_remove(first);
		request->done(request, &making->checkpoint, making->failed ? &making->err : NULL);
	}
}

static void start_making(struct audit *audit);

/* ---- the checkpoint file lost lines while the daemon ran ------------------------------------ */

struct alarm_record {
	struct recording recording;
	char result[640];
};

static void on_alarm_recorded(struct recording *recording, const struct err *err)
{
	if (err)
		log_event(LOG_LEVEL_WARNING, "audit.alarm", LOG_STR("why", err->text));
	free(container_of(recording, struct alarm_record, recording));
}

/* The alarm has no characters that JSON would have to escape. */
static void record_alarm(struct audit *audit)
{
	struct alarm_record *record = audit->timer ? calloc(1, sizeof(*record)) : NULL;

	if (!record)
		return; /* the daemon closes, and the alarm is in the log only */
	cut_printf(record->result, sizeof(record->result), "{\"alarm\":\"%s\"}", audit->alarm);
	record->recording.kind = RECORDING_ACT;
	record->recording.durability = STORE_NOW;
	record->recording.done = on_alarm_recorded;
	record->recording.act = (struct store_act){
		.at_wall_us = clock_wall_us(),
		.uid = getuid(),
		.gid = getgid(),
		.pid = getpid(),
		.method = "audit.alarm",
		.params = "{}",
		.result = record->result,
	};
	recorder_put(audit->recorder, &record->recording);
}

static void tell_cut(struct audit *audit)
{
	cut_printf(audit->alarm, sizeof(audit->alarm), "%s",
		"the second file lacks the checkpoint that was written to it last: it was removed, "
		"emptied, or its end was cut off while the daemon ran");
	log_event(LOG_LEVEL_ERROR, "audit.alarm", LOG_STR("why", audit->alarm),
		LOG_STR("file", audit->path), LOG_STR("repair", REPAIR_SECOND));
	host_journal(HOST_ALERT, "audit.alarm", audit->alarm,
		(const struct host_field[]){ { "FILE", audit->path } }, 1);
	record_alarm(audit);
}

/* In the loop, after the checkpoint was appended to the file, or after that failed. */
static void finish(struct making *making)
{
	struct audit *audit = making->audit;

	if (making->failed && strcmp(audit->trouble, making->err.text) != 0)
		log_event(
			LOG_LEVEL_WARNING, "audit.no_checkpoint", LOG_STR("why", making->err.text));
	cut_printf(audit->trouble, sizeof(audit->trouble), "%s",
		making->failed ? making->err.text : "");
	audit->making = NULL;
	if (making->was_cut)
		tell_cut(audit);
	answer_requests(making);
	free(making);
	if (!list_is_empty(&audit->requests))
		start_making(audit);
}

/* On a thread; in the loop while the daemon closes. */
static void append(void *context)
{
	struct making *making = context;
	const struct audit *audit = making->audit; /* its paths do not change */
	char line[STORE_CHECKPOINT_MAX];

	checkpoint_file_last_line(audit->last_line_path, line, sizeof(line));
	making->was_cut = line[0] && checkpoint_file_has(audit->path, line, &making->err) == 0;
	if (append_to(audit->path, &making->checkpoint, &making->err) < 0 ||
		checkpoint_file_save_last(
			audit->last_line_path, making->checkpoint.line, &making->err) < 0)
		making->failed = true;
}

static void on_appended(void *context)
{
	finish(context);
}

static void on_signed(struct recording *recording, const struct err *err)
{
	struct making *making = container_of(recording, struct making, recording);
	struct audit *audit = making->audit;

	if (err) {
		making->err = *err;
		making->failed = true;
		finish(making);
		return;
	}
	audit->links = making->checkpoint.links;
	if (!making->checkpoint.line[0]) {
		finish(making);
		return;
	}
	if (making->checkpoint.is_new) {
		audit->at_us = making->checkpoint.at_wall_us;
		report_checkpoint(&making->checkpoint);
	}
	/* While the daemon closes, recorder_close() waits for this anyway, so we append here. */
	if (audit->timer && work_start(audit->loop, append, on_appended, making) == 0)
		return;
	append(making);
	finish(making);
}

static void start_making(struct audit *audit)
{
	struct making *making = audit->recorder ? calloc(1, sizeof(*making)) : NULL;
	uint64_t commits = 0;

	if (!making)
		return; /* the timer tries again, if it still runs */
	list_init(&making->requests);
	for (struct list *first; (first = list_first(&audit->requests));) {
		list_remove(first);
		list_append(&making->requests, first);
	}
	making->audit = audit;
	making->checkpoint.signer = audit->signer;
	making->checkpoint.at_wall_us = clock_wall_us();
	making->recording.kind = RECORDING_CHECKPOINT;
	making->recording.durability = STORE_NOW;
	making->recording.checkpoint = &making->checkpoint;
	making->recording.done = on_signed;
	audit->making = making;
	audit->made_ms = clock_ms();
	recorder_counts(audit->recorder, &commits, &audit->records);
	audit->records++; /* the checkpoint itself */
	recorder_put(audit->recorder, &making->recording);
}

/* ---- when a checkpoint is due --------------------------------------------------------------- */

static void on_look(void *owner)
{
	struct audit *audit = owner;
	const struct config *config = audit->config;
	uint64_t commits = 0;
	uint64_t records = 0;

	recorder_counts(audit->recorder, &commits, &records);
	if (audit->making || records == audit->records)
		return;
	if (records - audit->records >= config->checkpoint_records ||
		clock_ms() - audit->made_ms >= (int64_t)config->checkpoint_ms)
		start_making(audit);
}

int audit_start(struct audit *audit, struct recorder *recorder, struct err *err)
{
	audit->recorder = recorder;
	audit->made_ms = clock_ms();
	audit->timer = timer_new(audit->loop, LOOK_MS, LOOK_MS, on_look, audit);
	return audit->timer ? 0 : err_set(err, ERR_MEMORY, "no memory for checkpoints");
}

void audit_close(struct audit *audit)
{
	timer_close(audit->timer);
	audit->timer = NULL;
	if (audit->signer && !audit->making)
		start_making(audit);
	audit->recorder = NULL;
}

void audit_done(struct audit *audit)
{
	if (audit->signer && audit->file_fd >= 0)
		(void)close(audit->file_fd);
	audit->file_fd = -1;
	signer_close(audit->signer);
	audit->signer = NULL;
}

/* ---- requests and status -------------------------------------------------------------------- */

int audit_request(struct audit *audit, struct checkpoint_request *request)
{
	list_init(&request->link);
	list_append(&audit->requests, &request->link);
	if (!audit->making)
		start_making(audit);
	if (audit->making)
		return 0;
	list_remove(&request->link);
	return -1;
}

struct value *audit_describe_key(const struct audit *audit, struct arena *arena)
{
	struct fill fill = fill_start(arena);
	char key[SIGN_KEY_TEXT_LEN + 1];

	sign_key_text(signer_public(audit->signer), key);
	fill_text(&fill, "key", key);
	fill_text(&fill, "file", audit->path);
	return fill_done(&fill);
}

int audit_trust(const void *owner, int64_t from, char **ret_text, struct store_trust *ret_trust,
	struct err *err)
{
	const struct audit *audit = owner;
	struct checkpoint_piece piece = { NULL, 0, 0, 0 };
	char last_line[STORE_CHECKPOINT_MAX];

	checkpoint_file_last_line(audit->last_line_path, last_line,
		sizeof(last_line)); /* first: the file may grow meanwhile */
	if (checkpoint_file_read(audit->path, from - 1, &piece, err) < 0)
		return -1;
	*ret_text = piece.text;
	*ret_trust = (struct store_trust){ .public_key = signer_public(audit->signer),
		.second = { piece.text, piece.len },
		.second_at = piece.at,
		.second_of = piece.of };
	memcpy(ret_trust->last_line, last_line, sizeof(last_line));
	return 0;
}

struct value *audit_describe(const struct audit *audit, struct arena *arena)
{
	struct fill fill = { arena, audit_describe_key(audit, arena), false };

	fill_int(&fill, "links", audit->links);
	fill_value(
		&fill, "at_us", audit->at_us ? value_int(arena, audit->at_us) : value_nil(arena));
	fill_value(&fill, "alarm", value_text(arena, audit->alarm[0] ? audit->alarm : NULL));
	fill_value(&fill, "trouble", value_text(arena, audit->trouble[0] ? audit->trouble : NULL));
	return fill_done(&fill);
}
