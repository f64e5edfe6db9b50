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

#define ADMIN_REASON_MAX 256
#define ADMIN_BLOCKS_MAX 4096

struct admin_ops {
	bool drained;
	char why[ADMIN_REASON_MAX + 1]; /* as the administrator said it, or "" */
	struct map blocks;              /* uid -> why, on the heap */
};

/* With those whom the store knows to be shut out.  0, or -1; then admin_ops_done() too. */
int admin_ops_init(struct admin_ops *admin_ops, struct store *store, struct err *err);
void admin_ops_done(struct admin_ops *admin_ops);

/* Why a run of this user is not let in, in `arena`, with the code; NULL when it is. */
const char *admin_ops_refusal(const struct admin_ops *admin_ops, uint32_t uid, struct arena *arena,
	enum rpc_code *ret_code);

/* Who did what by this call, with what result, for the record; texts lie in the call's arena. */
void admin_ops_act(struct call *call, const struct value *result, struct store_act *act);

/* Answers one of the methods admin.drain, resume, kill_all, block, unblock. */
void method_admin_op(struct call *call);

/* Who is shut out, for admin.status: [{uid, reason?}]. */
struct value *admin_ops_describe_blocks(const struct admin_ops *admin_ops, struct arena *arena);
