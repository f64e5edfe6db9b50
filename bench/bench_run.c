/*
 * Side by side, in one run and in turn: what it takes to have `print(1)` run by an unjailed
 * interpreter, by one in bubblewrap, and by ced through its socket with every layer on and the
 * record on the disk before the answer.
 *
 *	bench_run --socket PATH [--spawner PID] [--rounds N] [--seconds S] [--json FILE]
 *
 * The machines this runs on are shared: absolute times say little, the ratios in one run do.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/frame.h"
#include "proto/rpc.h"

#define PROGRAM       "print(1)"
#define SLICES        3
#define CLIENTS_MAX   256
#define SAMPLES_MAX   (1 << 20)
#define PROCESSES_MAX 65536

/* The same for everybody, whatever the shell of whoever measures has set. */
static const char *const environment[] = { "PATH=/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8", NULL };

static const char *const plain[] = { "/usr/bin/python3", "-c", PROGRAM, NULL };
static const char *const bare[] = { "/usr/bin/python3", "-I", "-S", "-E", "-c", PROGRAM, NULL };
static const char *const bubble[] = { "bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr",
	"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--dev", "/dev",
	"--proc", "/proc", "--tmpfs", "/tmp", "--die-with-parent", "--new-session", "--clearenv",
	"/usr/bin/python3", "-c", PROGRAM, NULL };

struct contender {
	const char *name;
	const char *const *argv; /* NULL: through the socket */
	double *samples;         /* microseconds, of the latency part */
	size_t count;
	double runs_per_s[2]; /* with one client, with many */
	double cpu_ms;        /* per run, with many clients */
};

static struct contender contenders[] = {
	{ .name = "python3 -c", .argv = plain },
	{ .name = "python3 -I -S -E -c", .argv = bare },
	{ .name = "bubblewrap + python3", .argv = bubble },
	{ .name = "ced" },
};

static const char *socket_path;
static pid_t spawner_pid;
static int rounds = 200;
static double slice_s = 2;

/* ---- one run, one way or the other ----------------------------------------------------------- */

static int run_process(const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	char text[64];
	size_t len = 0;
	int ends[2];
	pid_t pid;
	ssize_t got;
	int status = -1;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
		    (char *const *)(uintptr_t)environment) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (pid > 0 && (got = read(ends[0], text + len, sizeof(text) - len)) > 0)
		len += (size_t)got;
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
	close(ends[0]);
	return len == 2 && !memcmp(text, "1\n", 2) && status == 0 ? 0 : -1;
}

struct client {
	int sock;
	struct frame frame;
	char *request;
	size_t request_len;
};

static int client_open(struct client *client)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct arena arena;
	struct value *params;
	struct buf buf;
	struct err err = ERR_INIT;

	arena_init(&arena, 65536);
	buf_init(&buf, 65536);
	params = value_map(&arena);
	value_map_put(&arena, params, "language", value_text(&arena, "python"));
	value_map_put(&arena, params, "code", value_text(&arena, PROGRAM));
	(void)rpc_write_request(&buf, 1, "run", params, &err);
	client->request = buf_take(&buf, &client->request_len);
	arena_done(&arena);
	frame_init(&client->frame, 1 << 20, WIRE_DEPTH_DEFAULT);
	cut_printf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	client->sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return connect(client->sock, (struct sockaddr *)&address, sizeof(address));
}

static void client_close(struct client *client)
{
	close(client->sock);
	frame_done(&client->frame);
	free(client->request);
}

/* The reply of a run that went well has these bytes in it. */
static bool went_well(const char *bytes, size_t len)
{
	static const char good[] = "\xa7outcome\xa2ok";

	return memmem(bytes, len, good, sizeof(good) - 1) != NULL;
}

static int run_through_socket(struct client *client)
{
	struct err err = ERR_INIT;
	int whole = 0;
	char *bytes = NULL;
	size_t len = 0;
	bool good;

	if (write_all(client->sock, client->request, client->request_len, &err) < 0)
		return -1;
	while (whole == 0) {
		size_t room = 0;
		char *into = frame_room(&client->frame, &room);
		ssize_t got = into ? read(client->sock, into, room) : -1;

		if (got <= 0)
			return -1;
		frame_filled(&client->frame, (size_t)got);
		whole = frame_next(&client->frame, &bytes, &len, &err);
	}
	good = whole > 0 && went_well(bytes, len);
	if (!good && whole > 0)
		fprintf(stderr, "bench_run: an answer that is not ok: %.*s\n",
			(int)(len < 300 ? len : 300), bytes);
	free(bytes);
	return good ? 0 : -1;
}

static int run_once(const struct contender *contender, struct client *client)
{
	return contender->argv ? run_process(contender->argv) : run_through_socket(client);
}

/* ---- latency --------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double percentile(const struct contender *contender, double part)
{
	size_t at = (size_t)((double)(contender->count - 1) * part + 0.5);

	return contender->count ? contender->samples[at] : 0;
}

static int measure_latency(struct client *client)
{
	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < COUNT_OF(contenders); i++) {
			struct contender *contender = &contenders[i];
			int64_t began_us = clock_us();

			if (run_once(contender, client) < 0) {
				fprintf(stderr, "bench_run: %s failed\n", contender->name);
				return -1;
			}
			contender->samples[contender->count++] = (double)(clock_us() - began_us);
		}
	for (size_t i = 0; i < COUNT_OF(contenders); i++)
		qsort(contenders[i].samples, contenders[i].count, sizeof(double), by_size);
	return 0;
}

/* ---- cpu of a tree of processes --------------------------------------------------------------- */

struct process {
	pid_t pid, parent;
	uint64_t ticks; /* its own and those of children that it has reaped */
};

static bool read_process(const char *name, struct process *ret)
{
	char path[64];
	auto_free char *text = NULL;
	size_t len = 0;
	char *at;
	uint64_t ticks[4];
	struct err err = ERR_INIT;

	cut_printf(path, sizeof(path), "/proc/%s/stat", name);
	if (read_file(path, 4096, &text, &len, &err) < 0)
		return false;
	at = strrchr(text, ')');
	ret->pid = (pid_t)strtol(name, NULL, 10);
	if (!at || sscanf(at + 2,
			   "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64,
			   &ret->parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 5)
		return false;
	ret->ticks = ticks[0] + ticks[1] + ticks[2] + ticks[3];
	return true;
}

static bool descends(const struct process *all, size_t count, const struct process *one, pid_t root)
{
	pid_t pid = one->pid;

	for (int depth = 0; depth < 16 && pid > 1; depth++) {
		pid_t parent = 0;

		if (pid == root)
			return true;
		for (size_t i = 0; i < count; i++)
			if (all[i].pid == pid)
				parent = all[i].parent;
		pid = parent;
	}
	return false;
}

/* Seconds of cpu of `root` and everything below it. */
static double tree_cpu_s(pid_t root)
{
	static struct process all[PROCESSES_MAX];
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;
	uint64_t ticks = 0;

	while (proc && (entry = readdir(proc)) && count < PROCESSES_MAX)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			count += read_process(entry->d_name, &all[count]);
	if (proc)
		closedir(proc);
	for (size_t i = 0; i < count; i++)
		if (descends(all, count, &all[i], root))
			ticks += all[i].ticks;
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Memory of one warm worker: proportional share, middle of those that wait. */
static double worker_memory_kib(pid_t root)
{
	static struct process all[PROCESSES_MAX];
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;
	size_t found = 0;
	double sizes[1024];

	while (proc && (entry = readdir(proc)) && count < PROCESSES_MAX)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			count += read_process(entry->d_name, &all[count]);
	if (proc)
		closedir(proc);
	for (size_t i = 0; i < count && found < COUNT_OF(sizes); i++) {
		char path[64];
		auto_free char *text = NULL;
		size_t len = 0;
		char *line;
		struct err err = ERR_INIT;
		bool is_leaf = true;

		for (size_t k = 0; k < count; k++)
			is_leaf = is_leaf && all[k].parent != all[i].pid;
		if (!is_leaf || !descends(all, count, &all[i], root))
			continue;
		cut_printf(path, sizeof(path), "/proc/%d/smaps_rollup", all[i].pid);
		if (read_file(path, 65536, &text, &len, &err) < 0)
			continue;
		line = strstr(text, "Private_Dirty:");
		if (line && strstr(text, "Rss:"))
			sizes[found++] = strtod(line + 14, NULL);
	}
	qsort(sizes, found, sizeof(double), by_size);
	return found ? sizes[found / 2] : 0;
}

/* ---- throughput -------------------------------------------------------------------------------- */

struct crowd {
	const struct contender *contender;
	int64_t until_us;
	atomic_long runs;
	atomic_long failures;
};

static void *one_of_crowd(void *context)
{
	struct crowd *crowd = context;
	struct client client = { .sock = -1 };
	bool through_socket = !crowd->contender->argv;

	if (through_socket && client_open(&client) < 0) {
		atomic_fetch_add(&crowd->failures, 1);
		return NULL;
	}
	while (clock_us() < crowd->until_us) {
		if (run_once(crowd->contender, &client) == 0)
			atomic_fetch_add(&crowd->runs, 1);
		else
			atomic_fetch_add(&crowd->failures, 1);
	}
	if (through_socket)
		client_close(&client);
	return NULL;
}

static int crowd_run(struct contender *contender, int clients, double *ret_runs, double *ret_cpu_s)
{
	pthread_t threads[CLIENTS_MAX];
	struct crowd crowd = { .contender = contender,
		.until_us = clock_us() + (int64_t)(slice_s * 1e6) };
	pid_t root = contender->argv ? getpid() : spawner_pid;
	double before_s = root ? tree_cpu_s(root) : 0;
	int started = 0;

	for (; started < clients; started++)
		if (pthread_create(&threads[started], NULL, one_of_crowd, &crowd) != 0)
			break;
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	*ret_runs += (double)atomic_load(&crowd.runs);
	*ret_cpu_s += root ? tree_cpu_s(root) - before_s : 0;
	if (atomic_load(&crowd.failures) || started < clients) {
		fprintf(stderr, "bench_run: %s: %ld runs failed\n", contender->name,
			atomic_load(&crowd.failures));
		return -1;
	}
	return 0;
}

static int measure_throughput(int which, int clients)
{
	double runs[COUNT_OF(contenders)] = { 0 };
	double cpu_s[COUNT_OF(contenders)] = { 0 };

	for (int slice = 0; slice < SLICES; slice++)
		for (size_t i = 0; i < COUNT_OF(contenders); i++)
			if (crowd_run(&contenders[i], clients, &runs[i], &cpu_s[i]) < 0)
				return -1;
	for (size_t i = 0; i < COUNT_OF(contenders); i++) {
		contenders[i].runs_per_s[which] = runs[i] / (SLICES * slice_s);
		contenders[i].cpu_ms = runs[i] > 0 ? cpu_s[i] * 1000 / runs[i] : 0;
	}
	return 0;
}

/* ---- telling ----------------------------------------------------------------------------------- */

static void print_table(int clients)
{
	const struct contender *first = &contenders[0];

	printf("%-22s %9s %9s %9s %8s | %8s %8s | %8s\n", "print(1), whole", "p50 ms", "p90 ms",
		"p99 ms", "p50 is", "runs/s 1", "many", "cpu ms");
	for (size_t i = 0; i < COUNT_OF(contenders); i++) {
		const struct contender *c = &contenders[i];

		printf("%-22s %9.2f %9.2f %9.2f   1/%-5.1f | %8.0f %8.0f | %8.2f\n", c->name,
			percentile(c, 0.5) / 1000, percentile(c, 0.9) / 1000,
			percentile(c, 0.99) / 1000, percentile(first, 0.5) / percentile(c, 0.5),
			c->runs_per_s[0], c->runs_per_s[1], c->cpu_ms);
	}
	printf("many: %d clients; cpu: per run, with many clients, all processes of it\n", clients);
}

static void print_promises(void)
{
	const struct contender *plain_python = &contenders[0];
	const struct contender *in_bubble = &contenders[2];
	const struct contender *ced = &contenders[3];

	printf("\npromise                                     wanted      measured\n");
	printf("p50 against python3 -c                      1/20        1/%.1f\n",
		percentile(plain_python, 0.5) / percentile(ced, 0.5));
	printf("p99 against python3 -c (p99)                1/4         1/%.1f\n",
		percentile(plain_python, 0.99) / percentile(ced, 0.99));
	printf("runs/s with many against bubblewrap         6 times     %.1f times\n",
		ced->runs_per_s[1] / in_bubble->runs_per_s[1]);
}

static int write_json(const char *path, int clients, double memory_kib)
{
	FILE *out = fopen(path, "we");

	if (!out)
		return -1;
	fprintf(out,
		"{\"rounds\": %d, \"clients\": %d, \"worker_private_kib\": %.0f, \"contenders\": [",
		rounds, clients, memory_kib);
	for (size_t i = 0; i < COUNT_OF(contenders); i++) {
		const struct contender *c = &contenders[i];

		fprintf(out,
			"%s\n  {\"name\": \"%s\", \"p50_us\": %.0f, \"p90_us\": %.0f, \"p99_us\": %.0f, "
			"\"runs_per_s_1\": %.1f, \"runs_per_s_many\": %.1f, \"cpu_ms\": %.3f}",
			i ? "," : "", c->name, percentile(c, 0.5), percentile(c, 0.9),
			percentile(c, 0.99), c->runs_per_s[0], c->runs_per_s[1], c->cpu_ms);
	}
	fprintf(out, "\n]}\n");
	return fclose(out);
}

static const struct option options[] = {
	{ "socket", required_argument, NULL, 's' },
	{ "spawner", required_argument, NULL, 'p' },
	{ "rounds", required_argument, NULL, 'r' },
	{ "seconds", required_argument, NULL, 't' },
	{ "json", required_argument, NULL, 'j' },
	{ 0 },
};

int main(int argc, char **argv)
{
	const char *json = NULL;
	int clients = get_nprocs() * 4 < CLIENTS_MAX ? get_nprocs() * 4 : CLIENTS_MAX;
	struct client client = { .sock = -1 };
	double memory_kib = 0;
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (letter) {
		case 's':
			socket_path = optarg;
			break;
		case 'p':
			spawner_pid = (pid_t)strtol(optarg, NULL, 10);
			break;
		case 'r':
			rounds = (int)strtol(optarg, NULL, 10);
			break;
		case 't':
			slice_s = strtod(optarg, NULL);
			break;
		case 'j':
			json = optarg;
			break;
		default:
			return EXIT_FAILURE;
		}
	}
	if (!socket_path || rounds < 1 || client_open(&client) < 0) {
		fprintf(stderr, "usage: bench_run --socket PATH [--spawner PID] [--rounds N] "
				"[--seconds S] [--json FILE]\n");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < COUNT_OF(contenders); i++)
		contenders[i].samples = calloc((size_t)rounds, sizeof(double));
	for (int i = 0; i < 20; i++) /* the page cache and the verdict are warm for everybody */
		for (size_t k = 0; k < COUNT_OF(contenders); k++)
			(void)run_once(&contenders[k], &client);
	if (measure_latency(&client) < 0)
		return EXIT_FAILURE;
	if (spawner_pid)
		memory_kib = worker_memory_kib(spawner_pid);
	if (measure_throughput(0, 1) < 0 || measure_throughput(1, clients) < 0)
		return EXIT_FAILURE;
	print_table(clients);
	if (spawner_pid)
		printf("memory of a warm worker, its own pages: %.0f KiB\n", memory_kib);
	print_promises();
	client_close(&client);
	return json && write_json(json, clients, memory_kib) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
