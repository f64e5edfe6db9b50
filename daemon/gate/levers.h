/*
 * The administrators' levers: take no new runs, kill all that runs, shut a user out, and back.  Each
 * use does what it says first, is recorded, and is answered when that is on the disk.
 *
 * Who is shut out stays so over a restart; a daemon that starts takes runs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/base/map.h"
#include "proto/wire/rpc.h"
#include "store/store.h"

struct call;

#define LEVER_REASON_MAX 256
#define LEVER_BLOCKS_MAX 4096

struct levers {
	bool drained;
	char why[LEVER_REASON_MAX + 1]; /* as the administrator said it, or "" */
	struct map blocks;              /* uid -> why, on the heap */
};

/* With those whom the store knows to be shut out.  0, or -1; then levers_done() too. */
int levers_init(struct levers *levers, struct store *store, struct err *err);
void levers_done(struct levers *levers);

/* Why a run of this user is not let in, in `arena`, with the code; NULL when it is. */
const char *levers_refusal(
	const struct levers *levers, uint32_t uid, struct arena *arena, enum rpc_code *ret_code);

/* Who did what by this call, with what result, for the record; texts lie in the call's arena. */
void levers_act(struct call *call, const struct value *result, struct store_act *act);

/* Answers one of the methods admin.drain, resume, kill_all, block, unblock. */
void method_lever(struct call *call);

/* Who is shut out, for admin.status: [{uid, reason?}]. */
struct value *levers_describe_blocks(const struct levers *levers, struct arena *arena);
