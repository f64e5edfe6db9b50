#include "daemon/door/ceilings.h"

#include <stdlib.h>
#include <sys/resource.h>

#define NOFILE_MOST    65536 /* soft limit on descriptors that the daemon sets */
#define FDS_OWN        128   /* event loop, store and its readers, inspectors, zygotes, log */
#define FDS_PER_WORKER 32    /* socket, pipes, cgroup files, stdin, artifacts */
#define CONNS_LEAST    16
/* connections that each uid may have even when the common limit is reached */
#define CONNS_OWN      2
#define FLOOR_PART     64 /* each uid may always use 1/64 of bytes_most */

struct share {
	unsigned conns;
	uint64_t bytes;
};

static struct share *share_of(const struct ceilings *ceilings, uint32_t uid)
{
	return map_get(&ceilings->shares, &uid, sizeof(uid));
}

static struct share *share_made(struct ceilings *ceilings, uint32_t uid)
{
	struct share *share = share_of(ceilings, uid);

	if (share)
		return share;
	share = calloc(1, sizeof(*share));
	if (share && map_put(&ceilings->shares, &uid, sizeof(uid), share, NULL) < 0) {
		free(share);
		share = NULL;
	}
	return share;
}

static void share_release(struct ceilings *ceilings, uint32_t uid, struct share *share)
{
	if (share->conns || share->bytes)
		return;
	(void)map_remove(&ceilings->shares, &uid, sizeof(uid));
	free(share);
}

/* ---- descriptors ---------------------------------------------------------------------------- */

static uint64_t raise_limit(void)
{
	struct rlimit limit = { 0, 0 };

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	if (limit.rlim_cur < NOFILE_MOST && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < NOFILE_MOST ? limit.rlim_max : NOFILE_MOST;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
		(void)getrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur < NOFILE_MOST ? limit.rlim_cur : NOFILE_MOST;
}

int ceilings_init(struct ceilings *ceilings, const struct config *config, struct err *err)
{
	uint64_t limit = raise_limit();
	/* While a zygote is replaced, both the old one and the new one have warm workers. */
	uint64_t workers = config->runtime_count *
			   (config->workers_max + config->workers_reserve + config->workers_min);
	uint64_t ours = FDS_OWN + FDS_PER_WORKER * workers;

	*ceilings = (struct ceilings){ .conns = 0 };
	ceilings_set(ceilings, config);
	map_init(&ceilings->shares);
	if (limit < ours + CONNS_LEAST)
		return err_set(err, ERR_UNSUPPORTED,
			"the daemon needs %u open files for so many workers and may have %u: raise "
			"LimitNOFILE (ulimit -n) or lower workers_max",
			(unsigned)(ours + CONNS_LEAST), (unsigned)limit);
	ceilings->conns_max = (unsigned)(limit - ours);
	return 0;
}

void ceilings_set(struct ceilings *ceilings, const struct config *config)
{
	ceilings->conns_most = (unsigned)config->connections_max;
	ceilings->conns_per_uid = (unsigned)config->connections_per_uid;
	ceilings->bytes_most = config->held_bytes;
	ceilings->bytes_per_uid = config->held_bytes_per_uid;
}

void ceilings_done(struct ceilings *ceilings)
{
	map_done_with(&ceilings->shares, free);
}

/* ---- connections ---------------------------------------------------------------------------- */

/* Reserves half of CONNS_LEAST for administrators, so that other users cannot lock them out. */
static const char *why_full(
	const struct ceilings *ceilings, const struct share *share, bool is_admin)
{
	if (ceilings->conns >= ceilings->conns_max)
		return "too many connections for the files that the daemon may open";
	if (is_admin)
		return NULL;
	if (ceilings->conns >= ceilings->conns_max - CONNS_LEAST / 2)
		return "too many connections for the files that the daemon may open";
	if (share->conns >= ceilings->conns_per_uid)
		return "too many connections of this user";
	if (ceilings->conns >= ceilings->conns_most && share->conns >= CONNS_OWN)
		return "too many connections";
	return NULL;
}

const char *ceilings_enter(struct ceilings *ceilings, uint32_t uid, bool is_admin)
{
	struct share *share = share_made(ceilings, uid);
	const char *full = NULL;

	if (!share)
		return "no memory";
	full = why_full(ceilings, share, is_admin);
	if (full) {
		share_release(ceilings, uid, share);
		return full;
	}
	share->conns++;
	ceilings->conns++;
	return NULL;
}

unsigned ceilings_conns_of(const struct ceilings *ceilings, uint32_t uid)
{
	const struct share *share = share_of(ceilings, uid);

	return share ? share->conns : 0;
}

bool ceilings_are_full(const struct ceilings *ceilings)
{
	return ceilings->conns >= ceilings->conns_most ||
	       ceilings->conns >= ceilings->conns_max - CONNS_LEAST / 2;
}

bool ceilings_has_all(const struct ceilings *ceilings, uint32_t uid, bool is_admin)
{
	return !is_admin && ceilings_conns_of(ceilings, uid) >= ceilings->conns_per_uid;
}

void ceilings_leave(struct ceilings *ceilings, uint32_t uid)
{
	struct share *share = share_of(ceilings, uid);

	ceilings->conns--;
	share->conns--;
	share_release(ceilings, uid, share);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static bool fits(const struct ceilings *ceilings, const struct share *share, uint64_t bytes)
{
	uint64_t own = share->bytes + bytes;

	return own <= ceilings->bytes_per_uid && (ceilings->bytes + bytes <= ceilings->bytes_most ||
							 own <= ceilings->bytes_most / FLOOR_PART);
}

static void add(struct ceilings *ceilings, struct share *share, uint64_t bytes)
{
	share->bytes += bytes;
	ceilings->bytes += bytes;
	if (ceilings->bytes > ceilings->bytes_peak)
		ceilings->bytes_peak = ceilings->bytes;
}

bool ceilings_hold(struct ceilings *ceilings, uint32_t uid, uint64_t bytes)
{
	struct share *share = share_made(ceilings, uid);

	if (!share)
		return false;
	if (!fits(ceilings, share, bytes)) {
		share_release(ceilings, uid, share);
		return false;
	}
	add(ceilings, share, bytes);
	return true;
}

/* The uid must have a connection, so that its share exists. */
void ceilings_hold_anyway(struct ceilings *ceilings, uint32_t uid, uint64_t bytes)
{
	add(ceilings, share_of(ceilings, uid), bytes);
}

void ceilings_let_go(struct ceilings *ceilings, uint32_t uid, uint64_t bytes)
{
	struct share *share = share_of(ceilings, uid);

	if (!share || !bytes)
		return;
	share->bytes -= bytes;
	ceilings->bytes -= bytes;
	share_release(ceilings, uid, share);
}

bool ceilings_passed(const struct ceilings *ceilings, uint32_t uid)
{
	const struct share *share = share_of(ceilings, uid);

	return share && share->bytes && !fits(ceilings, share, 0);
}
