/*
 * Decisions about runs that wait, in the transaction of the act that they are (acts.c).
 */
#pragma once

#include <stdint.h>

#include "store/acts.h"
#include "store/store.h"

/* The newest link about a run that waits, that it is about to start, and about an act. */
#define PARKED_LINK(key)                                                                           \
	"(SELECT max(c.link) FROM chain AS c WHERE c.kind > 1 AND c.kind = 5 AND c.subject = " key \
	")"
#define UNPARKED_LINK(key)                                                                         \
	"(SELECT max(c.link) FROM chain AS c WHERE c.kind > 1 AND c.kind = 6 AND c.subject = " key \
	")"
#define ACT_LINK(act)                                                                              \
	"(SELECT max(c.link) FROM chain AS c WHERE c.kind > 1 AND c.kind = 3 AND c.subject = " act \
	")"

/* The last decision about each run: a table `decided` for a question. */
#define DECIDED                                                                                                           \
	"decided AS MATERIALIZED (SELECT max(a.act) AS act, a.uid, a.at_us, " ACT_SAID("run_id") " AS run_id, " ACT_SAID( \
		"decision") " AS decision, CASE WHEN "                                                                    \
			    "json_valid(a.params) THEN a.params ->> '$.reason' END AS reason FROM acts AS a "             \
			    "WHERE a.method IN ('approvals.approve', 'approvals.deny') GROUP BY 4)"

/* How often an approval, named by its act, has been used. */
#define GRANT_USED(act) \
	"(SELECT count(*) FROM chain AS u WHERE u.kind > 1 AND u.kind = 7 AND u.subject = " act ")"

/* Whether the approval `g` is another than its act `a` gave.  Acts of older versions say less. */
#define GRANT_IS_ODD                                                                                                                                                                                                                       \
	"a.method IS NOT 'approvals.approve' OR " ACT_SAID("subject") " IS NOT g.subject OR " ACT_SAID("uid") " IS NOT g.uid OR " ACT_SAID("code_hash") " IS NOT g.code_hash OR " ACT_SAID("until_us") " IS NOT g.until_us OR (" ACT_SAID( \
		"uses") " IS NULL) <> "                                                                                                                                                                                                    \
			"(g.uses IS NULL) OR g.uses > " ACT_SAID("uses") " - " GRANT_USED("g.act") " OR (" ACT_SAID("language") " IS NOT NULL AND (" ACT_SAID(                                                                             \
				"language") " IS NOT g.language "                                                                                                                                                                          \
					    "OR " ACT_SAID("policy") " IS NOT g.policy OR g.uses <> " ACT_SAID(                                                                                                                            \
						    "uses") " - " GRANT_USED("g.act") "))"

#define GRANT_WAS_REVOKED(act)                                                     \
	"EXISTS (SELECT 1 FROM acts AS v WHERE v.method = 'approvals.revoke' AND " \
	"json_valid(v.params) AND v.params ->> '$.grant' = " act ")"

/* The run waits no more, since it has ended; its row goes, if there is one. */
int approvals_forget(struct store *store, int64_t key, struct err *err);

int approvals_put_decision(
	struct store *store, const struct store_decision *decision, int64_t act, struct err *err);
