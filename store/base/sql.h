/* Pieces of SQL that several statements share. */
#pragma once

/* The last act about each user who was blocked or unblocked: a table `last`. */
#define LAST_ACTS                                                                    \
	"WITH last AS (SELECT max(act) AS act, method, params ->> '$.uid' AS uid, "  \
	"params ->> '$.reason' AS reason FROM acts WHERE method IN ('admin.block', " \
	"'admin.unblock') AND json_valid(params) GROUP BY params ->> '$.uid') "

/* A key of the result of an act `a`. */
#define ACT_RESULT(key) "CASE WHEN json_valid(a.result) THEN a.result ->> '$." key "' END"

/* The newest link about a run that waits, about its start after that, and about an act. */
#define NEWEST_LINK(kind, subject)                                                                    \
	"(SELECT max(newest.link) FROM chain AS newest WHERE newest.kind > 1 AND newest.kind = " kind \
	" AND newest.subject = " subject ")"
#define PARKED_LINK(key)   NEWEST_LINK("5", key)
#define UNPARKED_LINK(key) NEWEST_LINK("6", key)
#define ACT_LINK(act)      NEWEST_LINK("3", act)

/* clang-format off */

/* The last decision about each run, not about a call of it: a table `decided`. */
#define DECIDED \
	"decided AS MATERIALIZED (SELECT max(a.act) AS act, a.uid, a.at_us, " ACT_RESULT("run_id") \
	" AS run_id, " ACT_RESULT("decision") " AS decision, CASE WHEN json_valid(a.params) THEN " \
	"a.params ->> '$.reason' END AS reason FROM acts AS a WHERE a.method IN " \
	"('approvals.approve', 'approvals.deny') AND " ACT_RESULT("call") " IS NULL GROUP BY 4)"

/* How often an approval, named by its act, has been used. */
#define GRANT_USED(act) \
	"(SELECT count(*) FROM chain AS u WHERE u.kind > 1 AND u.kind = 7 AND u.subject = " act ")"

/* Whether the approval `g` differs from what its act `a` gave. */
#define GRANT_DIFFERS \
	"a.method IS NOT 'approvals.approve' OR " ACT_RESULT("subject") " IS NOT g.subject OR " \
	ACT_RESULT("uid") " IS NOT g.uid OR " ACT_RESULT("code_hash") " IS NOT g.code_hash OR " \
	ACT_RESULT("until_us") " IS NOT g.until_us OR (" ACT_RESULT("uses") " IS NULL) <> " \
	"(g.uses IS NULL) OR g.uses <> " ACT_RESULT("uses") " - " GRANT_USED("g.act") " OR " \
	ACT_RESULT("language") " IS NOT g.language OR " ACT_RESULT("policy") " IS NOT g.policy"

/* clang-format on */

#define GRANT_WAS_REVOKED(act)                                                     \
	"EXISTS (SELECT 1 FROM acts AS v WHERE v.method = 'approvals.revoke' AND " \
	"json_valid(v.params) AND v.params ->> '$.grant' = " act ")"

/* Contents of one run, ?1, that may be blobs; each SELECT has as many columns as `records`. */
#define NINE_ZEROES "0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0"
#define RUN_BLOBS                                                                              \
	"SELECT code, stdin, setting, stdout, stdout_tail, stderr, stderr_tail, trace, more, " \
	"request, refused FROM records WHERE key = ?1 "                                        \
	"UNION ALL SELECT data, 0.0, " NINE_ZEROES " FROM inputs WHERE key = ?1 "              \
	"UNION ALL SELECT data, 0.0, " NINE_ZEROES " FROM artifacts WHERE key = ?1 "           \
	"UNION ALL SELECT args, result, " NINE_ZEROES " FROM run_calls WHERE key = ?1 "        \
	"UNION ALL SELECT data, 0.0, " NINE_ZEROES " FROM displays WHERE key = ?1"
