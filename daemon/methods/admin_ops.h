/*
 * The operations of administrators: stop new runs, kill all runs, block a user, and undo these.  An
 * operation takes effect first.  Then it is recorded, and answered once the record is on disk.
 *
 * A block survives a restart.  `drained` does not: a daemon that starts accepts runs.
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
	char why[ADMIN_REASON_MAX + 1]; /* the administrator's reason, or "" */
	struct map blocks;              /* uid -> reason, on the heap */
};

/* Reads the blocked users from the store.  0, or -1; call admin_ops_done() after both. */
int admin_ops_init(struct admin_ops *admin_ops, struct store *store, struct err *err);
void admin_ops_done(struct admin_ops *admin_ops);

/* Why a run of this user is rejected, in `arena`, with the code; NULL: it is accepted. */
const char *admin_ops_refusal(const struct admin_ops *admin_ops, uint32_t uid, struct arena *arena,
	enum rpc_code *ret_code);

/* Fills in *act for the record: caller, method and result.  Texts lie in the call's arena. */
void admin_ops_act(struct call *call, const struct value *result, struct store_act *act);

/* The blocked users, for admin.status: [{uid, reason?}]. */
struct value *admin_ops_describe_blocks(const struct admin_ops *admin_ops, struct arena *arena);
