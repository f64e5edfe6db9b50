#include "sandbox/spawner/spawner.h"

#include <errno.h>
#include <linux/landlock.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/base/fdpass.h"
#include "sandbox/jail/caps.h"
#include "sandbox/jail_env.h"

/* Limits of a zygote with its slots: far above its needs, far below what would hurt the host. */
#define ZYGOTE_MEMORY_BYTES ((uint64_t)4 << 30)
#define ZYGOTE_PIDS         1024

/* The kernel releases a cgroup a moment after its last process.  The rest is removed at the end. */
#define LEAVE_TRIES 1000

#define INSPECTOR_MEMORY_LEAST ((uint64_t)16 << 20)
#define INSPECTOR_MEMORY_MOST  ((uint64_t)2 << 30)
#define INSPECTOR_CPU_S_MOST   3600

/* A message and its answer. */
struct exchange {
	const struct priv_msg *asked;
	const int *fds; /* that came with the message; the caller closes them */
	struct priv_msg *answer;
	int answer_fds[PRIV_FDS_MAX];
	unsigned answer_fd_count;
	bool keeps_fds; /* we keep the answer's descriptors: they are not closed after it */
};

/* ---- residents ----------------------------------------------------------------------------- */

static struct resident *resident_of(struct spawner *spawner, uint32_t id)
{
	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++) {
		struct resident *resident = &spawner->residents[i];

		if (id != 0 && resident->id == id && !resident->leaving)
			return resident;
	}
	return NULL;
}

static struct resident *free_place(struct spawner *spawner)
{
	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++)
		if (spawner->residents[i].id == 0)
			return &spawner->residents[i];
	return NULL;
}

static uint32_t slots_in_use(const struct spawner *spawner)
{
	uint32_t slots = 0;

	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++)
		slots += spawner->residents[i].slots;
	return slots;
}

/*
 * Slots count from 0; the zygote is not one of them.  Where kept states stand, a slot has further
 * leaves, whose numbers come behind those of all slots.
 */
#define NO_SLOT (-1)

static void leaf_of(const struct resident *resident, int slot, char *ret_leaf)
{
	if (slot == NO_SLOT)
		cut_printf(ret_leaf, CGROUP_NAME_MAX, "z%u", resident->id);
	else
		cut_printf(ret_leaf, CGROUP_NAME_MAX, "z%u-s%d", resident->id, slot);
}

static bool remove_leaves(const struct spawner *spawner, const struct resident *resident)
{
	char leaf[CGROUP_NAME_MAX];
	bool gone = true;

	for (int slot = NO_SLOT; slot < (int)resident->leaves; slot++) {
		leaf_of(resident, slot, leaf);
		gone = cgroup_remove(&spawner->cgroups, leaf) && gone;
	}
	return gone;
}

/*
 * The ids of a jail.  As root: a block of host uids of its own, whose first is the jail's uid 0.
 * As a user: uid 0 is that user, and there is no other.
 */
static struct id_maps maps_of(const struct spawner *spawner, const struct resident *resident)
{
	uint32_t place = (uint32_t)(resident - spawner->residents);
	uint32_t first = spawner->uid_base + place * SPAWNER_BLOCK;
	struct id_maps maps = {
		.uids = { 0, first, resident->slots + 1 },
		.gids = { 0, first, resident->slots + 1 },
	};

	if (spawner->mode == PRIV_MODE_ROOT)
		return maps;
	maps.uids = (struct id_map){ 0, (uint32_t)geteuid(), 1 };
	maps.gids = (struct id_map){ 0, (uint32_t)getegid(), 1 };
	return maps;
}

/* A resident and its slots are in a cgroup of its own; workers move to theirs. */
static int settle(const struct spawner *spawner, const struct resident *resident, struct err *err)
{
	struct id_maps maps = maps_of(spawner, resident);
	char leaf[CGROUP_NAME_MAX];

	leaf_of(resident, NO_SLOT, leaf);
	if (ns_write_maps(resident->child.pid, &maps, err) < 0 ||
		cgroup_make(&spawner->cgroups, leaf, err) < 0 ||
		cgroup_limit(&spawner->cgroups, leaf, ZYGOTE_MEMORY_BYTES, ZYGOTE_PIDS, err) < 0)
		return -1;
	return cgroup_join(&spawner->cgroups, leaf, resident->child.pid, err);
}

/* A jail gets a local socket from the daemon, and no other kind of descriptor. */
static bool is_local_socket(int fd)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

static int start_resident(struct spawner *spawner, struct resident *resident, uint32_t slots,
	struct jail_spec *spec, struct err *err)
{
	if (!is_local_socket(spec->socket))
		return err_set(err, ERR_INVALID, "a jail needs a local socket");
	*resident = (struct resident){ ++spawner->last_id, slots, 0, CHILD_INIT, 0 };
	if (child_begin(&resident->child, spec, err) < 0 || settle(spawner, resident, err) < 0 ||
		child_go(&resident->child, err) < 0) {
		child_end(&resident->child);
		resident->leaving = 1; /* the daemon never knew it: only its cgroups are removed */
		return err_wrap(err, "%s", spec->profile->name);
	}
	return 0;
}

static void answer_resident(struct exchange *exchange, const struct resident *resident)
{
	exchange->answer->id = resident->id;
	exchange->answer_fds[exchange->answer_fd_count++] = resident->child.pidfd;
	exchange->keeps_fds = true;
}

/* ---- answers ------------------------------------------------------------------------------- */

static int answer_hello(struct spawner *spawner, struct exchange *exchange, struct err *err)
{
	const struct cgroups *cgroups = &spawner->cgroups;
	struct priv_host *host = &exchange->answer->body.host;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	(void)err;
	host->landlock_abi = abi < 0 ? -errno : (int32_t)abi;
	host->mode = spawner->mode;
	host->memory = cgroups_kind(cgroups, CGROUP_MEMORY);
	host->pids = cgroups_kind(cgroups, CGROUP_PIDS);
	host->cpu = cgroups_kind(cgroups, CGROUP_CPU);
	host->cgroup_kill = cgroups->can_kill;
	cut_printf(host->why_not, sizeof(host->why_not), "%s", cgroups->why_not);
	return 0;
}

static int answer_runtime(struct spawner *spawner, struct exchange *exchange, struct err *err)
{
	const struct priv_runtime *asked = &exchange->asked->body.runtime;

	if (spawner->runtime_count == PRIV_RUNTIMES_MAX)
		return err_set(err, ERR_TOO_BIG, "more than %d runtimes", PRIV_RUNTIMES_MAX);
	for (uint32_t i = 0; i < spawner->runtime_count; i++)
		if (strcmp(spawner->runtimes[i].asked.name, asked->name) == 0)
			return err_set(err, ERR_EXISTS, "runtime %s exists already", asked->name);
	if (runtime_check(&spawner->runtimes[spawner->runtime_count], asked, err) < 0)
		return -1;
	exchange->answer->id = spawner->runtime_count++;
	return 0;
}

static int answer_seal(struct spawner *spawner, struct exchange *exchange, struct err *err)
{
	(void)err;
	spawner->has_egress = exchange->asked->id == 1;
	return 0;
}

static int answer_zygote(struct spawner *spawner, struct exchange *exchange, struct err *err)
{
	const struct priv_zygote *asked = &exchange->asked->body.zygote;
	struct resident *resident = free_place(spawner);
	struct runtime_start start;

	if (asked->runtime >= spawner->runtime_count)
		return err_set(err, ERR_MISSING, "there is no runtime %u", asked->runtime);
	if (asked->slots < 1 || asked->slots > PRIV_SLOTS_MAX)
		return err_set(err, ERR_INVALID, "a zygote has 1 to %d slots", PRIV_SLOTS_MAX);
	if (!resident || slots_in_use(spawner) + asked->slots > SPAWNER_SLOTS_MAX)
		return err_set(err, ERR_BUSY, "all %d jails or all %d slots are in use",
			PRIV_CHILDREN_MAX, SPAWNER_SLOTS_MAX);

	const struct runtime *runtime = &spawner->runtimes[asked->runtime];
	if (runtime_start(runtime, asked->slots,
		    spawner->mode == PRIV_MODE_ROOT ? JAIL_ENV_UIDS "=block" : JAIL_ENV_UIDS "=one",
		    &start, err) < 0)
		return -1;
	start.spec.socket = exchange->fds[0];
	start.spec.filter = &spawner->filters[FILTER_ZYGOTE + (runtime->asked.makes_code != 0) +
					      2 * (runtime->asked.networked != 0)];
	if (start_resident(spawner, resident, asked->slots, &start.spec, err) < 0)
		return -1;
	answer_resident(exchange, resident);
	return 0;
}

static int answer_slot(struct spawner *spawner, struct exchange *exchange, struct err *err)
{
	const struct priv_slot *asked = &exchange->asked->body.slot;
	struct resident *resident = resident_of(spawner, asked->zygote);
	uid_t uid = CGROUP_AS_WE_ARE;
	char leaf[CGROUP_NAME_MAX];

	if (!resident || asked->slot >= PRIV_LEAVES_MAX * resident->slots)
		return err_set(err, ERR_MISSING, "%u: no leaf %u", asked->zygote, asked->slot);
	/* in the zygote's block (see maps_of()): the zygote first, then its slots */
	if (spawner->mode == PRIV_MODE_ROOT)
		uid = maps_of(spawner, resident).uids.outside + 1 + asked->slot % resident->slots;
	leaf_of(resident, (int)asked->slot, leaf);
	resident->leaves = asked->slot < resident->leaves ? resident->leaves : asked->slot + 1;
	if (cgroup_make(&spawner->cgroups, leaf, err) < 0 ||
		cgroup_knobs(&spawner->cgroups, leaf, uid, &exchange->answer->body.knobs,
			exchange->answer_fds, err) < 0)
		return -1;
	exchange->answer_fd_count = exchange->answer->body.knobs.count;
	return 0;
}

static int answer_inspector(struct spawner *spawner, struct exchange *exchange, struct err *err)
{
	static const char *const envp[] = { JAIL_ENV_SOCKET "=3", NULL };
	const struct priv_inspector *asked = &exchange->asked->body.inspector;
	const bool egress = exchange->asked->id == 1;
	const char *path = spawner->helpers[egress];
	const char *const argv[] = { strrchr(path, '/') + 1, NULL };
	const struct mount_row binary = { MOUNT_TARGET, path, "/program", false };
	struct resident *resident = free_place(spawner);
	struct jail_spec spec;

	if (!resident)
		return err_set(err, ERR_BUSY, "all %d jails are in use", PRIV_CHILDREN_MAX);
	if (asked->memory_bytes < INSPECTOR_MEMORY_LEAST ||
		asked->memory_bytes > INSPECTOR_MEMORY_MOST || asked->cpu_s < 1 ||
		asked->cpu_s > INSPECTOR_CPU_S_MOST)
		return err_set(err, ERR_INVALID, "the limits of an inspector are out of range");

	/* a daemon that was taken over later gets no network */
	if (egress && !spawner->has_egress)
		return err_set(err, ERR_INVALID, "the settings allow no network");

	jail_spec_init(&spec, egress ? &PROFILE_EGRESS : &PROFILE_INSPECTOR);
	if (jail_spec_add(&spec, &binary, err) < 0)
		return -1;
	spec.socket = exchange->fds[0];
	spec.memory_bytes = asked->memory_bytes;
	spec.cpu_s = egress ? 0 : asked->cpu_s;
	spec.program = binary.target;
	spec.argv = argv;
	spec.envp = envp;
	spec.filter = &spawner->filters[egress ? FILTER_EGRESS : FILTER_INSPECTOR];
	if (start_resident(spawner, resident, 0, &spec, err) < 0)
		return -1;
	answer_resident(exchange, resident);
	return 0;
}

static int answer_kill(struct spawner *spawner, struct exchange *exchange, struct err *err)
{
	const struct resident *resident = resident_of(spawner, exchange->asked->id);

	if (!resident)
		return err_set(err, ERR_MISSING, "there is no child %u", exchange->asked->id);
	return child_signal(&resident->child, SIGKILL, err);
}

/* privmsg.c has the shape and turn of these operations. */
static int (*const answers[PRIV_OP_COUNT])(
	struct spawner *spawner, struct exchange *exchange, struct err *err) = {
	[PRIV_HELLO] = answer_hello,
	[PRIV_RUNTIME] = answer_runtime,
	[PRIV_SEAL] = answer_seal,
	[PRIV_ZYGOTE] = answer_zygote,
	[PRIV_SLOT] = answer_slot,
	[PRIV_INSPECTOR] = answer_inspector,
	[PRIV_KILL] = answer_kill,
};

/* ---- the conversation ---------------------------------------------------------------------- */

static void refuse(struct exchange *exchange, const struct err *failure)
{
	struct priv_msg *refusal = exchange->answer;

	memset(&refusal->body, 0, sizeof(refusal->body));
	refusal->id = 0;
	refusal->error = (int32_t)failure->code;
	cut_printf(refusal->text, sizeof(refusal->text), "%s", failure->text);
	exchange->answer_fd_count = 0;
}

static int answer(struct spawner *spawner, struct exchange *exchange, struct err *err)
{
	uint32_t op = exchange->asked->op;
	struct err failure = ERR_INIT;
	int sent;

	if (op >= PRIV_OP_COUNT || !answers[op] || !priv_op_in_turn(op, spawner->phase))
		return err_set(err, ERR_PROTOCOL, "%s is out of turn", priv_op_word(op));
	*exchange->answer = (struct priv_msg){ .op = op };
	exchange->answer->sequence = exchange->asked->sequence;
	exchange->answer->is_answer = 1;
	if (answers[op](spawner, exchange, &failure) < 0)
		refuse(exchange, &failure);
	else
		spawner->phase = priv_phase_after(op, spawner->phase);

	sent = priv_send(spawner->sock, exchange->answer, exchange->answer_fds,
		exchange->answer_fd_count, err);
	if (!exchange->keeps_fds)
		close_fds(exchange->answer_fds, exchange->answer_fd_count);
	return sent;
}

int spawner_serve(struct spawner *spawner, struct err *err)
{
	int fds[PRIV_FDS_MAX];
	unsigned fd_count = 0;
	struct exchange exchange = {
		.asked = &spawner->asked, .fds = fds, .answer = &spawner->answer
	};
	int got = priv_recv(spawner->sock, true, &spawner->asked, fds, &fd_count, err);
	int answered;

	if (got <= 0)
		return got;
	answered = answer(spawner, &exchange, err);
	close_fds(fds, fd_count);
	return answered < 0 ? -1 : 1;
}

static int tidy_one(struct spawner *spawner, struct resident *resident, struct err *err)
{
	struct priv_msg msg = { .op = PRIV_EXITED, .id = resident->id };

	if (!resident->leaving && !child_reap(&resident->child, &msg.status))
		return 0;
	if (resident->leaving++ == 0 && priv_send(spawner->sock, &msg, NULL, 0, err) < 0)
		return -1;
	if (remove_leaves(spawner, resident) || resident->leaving > LEAVE_TRIES)
		*resident = (struct resident){ .child = CHILD_INIT };
	return 0;
}

int spawner_tidy(struct spawner *spawner, struct err *err)
{
	int waiting = 0;

	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++) {
		struct resident *resident = &spawner->residents[i];

		if (resident->id != 0 && tidy_one(spawner, resident, err) < 0)
			return -1;
		waiting |= resident->leaving > 0;
	}
	return waiting;
}

int spawner_open(struct spawner *spawner, struct err *err)
{
	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++)
		spawner->residents[i] = (struct resident){ .child = CHILD_INIT };
	for (unsigned profile = FILTER_ZYGOTE; profile < FILTER_PROFILE_COUNT; profile++)
		if (filter_build(profile, &spawner->filters[profile], err) < 0)
			return err_wrap(err, "filter %u", profile);
	cgroups_open(&spawner->cgroups);
	return 0;
}

/* All are killed before the first is waited for, so that they end at the same time. */
void spawner_close(struct spawner *spawner)
{
	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++)
		(void)child_signal(&spawner->residents[i].child, SIGKILL, NULL);
	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++) {
		struct resident *resident = &spawner->residents[i];

		child_end(&resident->child);
		for (int tries = 0;
			resident->id && tries < 100 && !remove_leaves(spawner, resident); tries++)
			(void)poll(NULL, 0, 10);
		resident->id = 0;
	}
	if (spawner->mode == PRIV_MODE_ROOT)
		(void)caps_raise_at_the_end(NULL);
	cgroups_close(&spawner->cgroups);
	for (size_t i = 0; i < FILTER_PROFILE_COUNT; i++)
		filter_done(&spawner->filters[i]);
}
