#include "tests/unit/store_sample.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/fill.h"
#include "store/base/db.h"

#define PAGE_BYTES 4096
#define DB_BYTES   ((size_t)64 << 20)

static const struct job_step steps[] = {
	{ "read", "contract", 3, true, NULL },
	{ "contract.checked", "contract", 21, true, NULL },
	{ "policy.asked", "policy", 30, true, NULL },
	{ "policy.verdict", "policy", 92, true, "allow" },
	{ "queue.turn", "queue", 95, true, NULL },
	{ "worker.taken", "queue", 97, true, "warm" },
	{ "job.sent", "execute", 113, true, NULL },
	{ "job.begun", "execute", 160, true, NULL },
	{ "output.first", "execute", 214, true, NULL },
	{ "job.done", "execute", 230, true, "exit code 0" },
	{ "output.checked", "output", 241, true, NULL },
	{ "record.sent", "record", 245, true, NULL },
};

static const struct job_limits limits = {
	.wall_ms = 10000,
	.cpu_ms = 10000,
	.cpu_percent = 100,
	.memory_bytes = 512 << 20,
	.disk_bytes = 64 << 20,
	.file_bytes = 64 << 20,
	.inodes = 4096,
	.pids = 64,
	.stdout_bytes = 1 << 20,
	.stderr_bytes = 1 << 20,
	.display_bytes = 8 << 20,
	.artifact_bytes = 16 << 20,
	.artifact_count = 64,
	.open_files = 256,
};

static struct bytes text(const char *words)
{
	return (struct bytes){ words, strlen(words) };
}

static const struct value *make_runtime(struct arena *arena)
{
	struct fill fill = fill_start(arena);

	fill_text(&fill, "name", "python");
	fill_text(&fill, "version", "3.11.2");
	fill_text(&fill, "digest",
		"sha256:4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a");
	return fill_done(&fill);
}

static const struct value *make_enforcers(struct arena *arena)
{
	struct fill fill = fill_start(arena);

	fill_text(&fill, "wall_ms", "clock");
	fill_text(&fill, "cpu_ms", "cgroup1");
	fill_text(&fill, "cpu_percent", "cgroup1");
	fill_text(&fill, "memory_bytes", "cgroup1");
	fill_text(&fill, "disk_bytes", "tmpfs");
	fill_text(&fill, "file_bytes", "rlimit");
	fill_text(&fill, "inodes", "tmpfs");
	fill_text(&fill, "pids", "cgroup1");
	fill_text(&fill, "stdout_bytes", "pipe");
	fill_text(&fill, "stderr_bytes", "pipe");
	fill_text(&fill, "artifact_bytes", "pipe");
	fill_text(&fill, "artifact_count", "pipe");
	fill_text(&fill, "open_files", "rlimit");
	return fill_done(&fill);
}

static void fill_result(struct sample *sample)
{
	struct job_result *result = &sample->result;

	result->outcome = OUTCOME_OK;
	result->ran = RAN_YES;
	result->reason = "The program ended by itself with exit code 0.";
	result->has_exit_code = true;
	result->out = (struct job_stream){ text("1\n"), { NULL, 0 }, 0, 2, false };
	result->has_verdict = true;
	result->verdict = (struct policy_verdict){ POLICY_ALLOW, "default",
		"sha256:6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d", NULL,
		0 };
	result->metrics = (struct job_metrics){ 7, 62, 16, 117, 11, -1, 245, 90, 21, 8126464, 12, 2,
		1, true };
	result->limits = limits;
	result->enforced_by = make_enforcers(&sample->arena);
	result->runtime = make_runtime(&sample->arena);
	result->steps = arena_array(&sample->arena, struct job_step, COUNT_OF(steps));
	if (result->steps) {
		memcpy(result->steps, steps, sizeof(steps));
		result->step_count = COUNT_OF(steps);
	}
	job_code_hash(&sample->spec, result->code_hash);
	job_input_hash(&sample->spec, result->input_hash);
}

void sample_init(struct sample *sample)
{
	*sample = (struct sample){ .spec = { .language = "python",
					   .code = text("print(1)\n"),
					   .entrypoint = "main.py",
					   .limits = limits,
					   .policy = "default" } };
	arena_init(&sample->arena, (size_t)64 << 20);
	fill_result(sample);
	sample->run = (struct store_run){ .method = "run",
		.uid = 1000,
		.gid = 100,
		.pid = 4242,
		.language = "python",
		.policy = "default",
		.entrypoint = "main.py" };
	sample_next(sample);
}

void sample_done(struct sample *sample)
{
	arena_done(&sample->arena);
}

void sample_next(struct sample *sample)
{
	static struct ulid_source source;
	struct err err = ERR_INIT;

	(void)ulid_next(&source, sample->run_id, &err);
	sample->run.received_wall_us = clock_wall_us();
	sample->run.ended_wall_us = sample->run.received_wall_us + 245;
}

/* The structs point at each other, so their pointers are set for this copy. */
static struct store_run joined(const struct sample *sample)
{
	struct store_run run = sample->run;

	run.run_id = sample->run_id;
	run.spec = &sample->spec;
	run.result = &sample->result;
	return run;
}

struct store_run sample_begun(const struct sample *sample)
{
	struct store_run run = joined(sample);

	run.result = NULL;
	run.ended_wall_us = 0;
	run.policy_digest = sample->result.verdict.digest;
	run.policy_decision = policy_decision_word(sample->result.verdict.decision);
	return run;
}

struct store_run sample_ended(struct sample *sample)
{
	struct store_run run;

	memcpy(sample->result.run_id, sample->run_id, sizeof(sample->run_id));
	run = joined(sample);
	run.stored_bytes = 77;
	return run;
}

int sample_write(struct store *store, struct sample *sample, struct err *err)
{
	struct store_run begun = sample_begun(sample);
	struct store_run ended = sample_ended(sample);

	if (store_begin(store, err) < 0)
		return -1;
	sample->call.run_id = sample->run_id;
	if (store_put_begun(store, &begun, err) < 0 ||
		(sample->call.number && store_put_call(store, &sample->call, err) < 0) ||
		store_put_ended(store, &ended, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, STORE_SOON, err);
}

static void make_folder(char ret_folder[64])
{
	const char *place = getenv("TMPDIR");

	(void)snprintf(ret_folder, 64, "%s/ced-store-XXXXXX", place ? place : "/tmp");
	if (!mkdtemp(ret_folder))
		ret_folder[0] = '\0';
}

static void remove_folder(const char *folder)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	char path[512];

	while (entries && (entry = readdir(entries))) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		(void)unlink(path);
	}
	if (entries)
		(void)closedir(entries);
	(void)rmdir(folder);
}

void shop_init(struct shop *shop)
{
	*shop = (struct shop){ .folder = "" };
	arena_init(&shop->arena, (size_t)256 << 20);
	sample_init(&shop->sample);
	make_folder(shop->folder);
	shop->store = store_open(shop->folder, STORE_WRITE, &shop->err);
}

void shop_reopen(struct shop *shop)
{
	store_close(shop->store);
	shop->store = store_open(shop->folder, STORE_WRITE, &shop->err);
}

bool shop_spoil(struct shop *shop, const char *bytes)
{
	char path[128], rubbish[PAGE_BYTES];
	char *file = NULL;
	size_t len = 0;
	const char *at;
	bool done = false;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/ced.db", shop->folder);
	memset(rubbish, 0x5a, sizeof(rubbish));
	(void)sqlite3_wal_checkpoint_v2(
		shop->store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	if (read_file(path, DB_BYTES, &file, &len, NULL) < 0)
		return false;
	at = memmem(file, len, bytes, strlen(bytes));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && at)
		done = pwrite(fd, rubbish, PAGE_BYTES, (at - file) / PAGE_BYTES * PAGE_BYTES) ==
		       PAGE_BYTES;
	if (fd >= 0)
		(void)close(fd);
	free(file);
	(void)sqlite3_db_release_memory(shop->store->db);
	return done;
}

void shop_done(struct shop *shop)
{
	sample_done(&shop->sample);
	arena_done(&shop->arena);
	store_close(shop->store);
	remove_folder(shop->folder);
}
