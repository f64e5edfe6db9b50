/*
 * The fixed statements: each name with its text.  stmt.h and stmt.c include this file, so it has
 * no `#pragma once`.  The columns that a SELECT returns are read by number where it is used.
 */
/* clang-format off */
STATEMENT(STMT_BEGIN, "BEGIN IMMEDIATE")
STATEMENT(STMT_COMMIT, "COMMIT")
STATEMENT(STMT_ROLLBACK, "ROLLBACK")
/* Two runs may have the same key by their ids; the later one gets the next free key. */
STATEMENT(STMT_KEY_FIND, "SELECT key FROM runs WHERE key BETWEEN ?1 AND ?1 + 15 AND run_id = ?2")
STATEMENT(STMT_RUN_INSERT,
	"INSERT INTO runs (key, run_id, caller_id, method, uid, gid, pid, agent, task, "
	"language, policy, entrypoint, received_us, code_hash, input_hash, caller_exe, "
	"caller_name, action, session) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
STATEMENT(STMT_RECORD_INSERT,
	"INSERT INTO records (key, request, refused, code, stdin, setting) "
	"VALUES (?, ?, ?, ?, ?, ?)")
STATEMENT(STMT_PENDING_INSERT, "INSERT INTO pending (key) VALUES (?)")
STATEMENT(STMT_INPUT_INSERT,
	"INSERT INTO inputs (key, number, path, mode, data) VALUES (?, ?, ?, ?, ?)")
STATEMENT(STMT_LABEL_INSERT, "INSERT OR IGNORE INTO labels (name, value, key) VALUES (?, ?, ?)")
STATEMENT(STMT_RUN_ACTION, "UPDATE runs SET action = ?2 WHERE key = ?1")
STATEMENT(STMT_RUN_END,
	"UPDATE runs SET ended_us = ?2, policy = coalesce(?3, policy), outcome = ?4, ran = ?5, "
	"reason = ?6, code_hash = coalesce(?7, code_hash), "
	"input_hash = coalesce(?8, input_hash), stdout_bytes = ?9, stderr_bytes = ?10, "
	"queue_us = ?11, policy_us = ?12, start_us = ?13, exec_us = ?14, collect_us = ?15, "
	"total_us = ?16, cpu_user_us = ?17, cpu_sys_us = ?18, "
	"memory_peak_bytes = ?19, disk_bytes = ?20, ctx_voluntary = ?21, "
	"ctx_forced = ?22, warm = ?23, cached_from = ?24, stored_bytes = ?26, "
	"action = ?27, cache_key = ?28, cell = ?29 WHERE key = ?1 AND run_id = ?25")
STATEMENT(STMT_RECORD_END,
	"UPDATE records SET setting = ?2, stdout = ?3, stdout_tail = ?4, stderr = ?5, "
	"stderr_tail = ?6, trace = ?7, more = ?8 WHERE key = ?1")
STATEMENT(STMT_FINDING_INSERT,
	"INSERT OR REPLACE INTO findings (key, number, rule, severity, line, column, text, "
	"message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
STATEMENT(STMT_ARTIFACT_INSERT,
	"INSERT OR REPLACE INTO artifacts (key, number, path, mode, mime, bytes, sha256, data) "
	"VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
STATEMENT(STMT_CALL_INSERT,
	"INSERT INTO run_calls (key, number, tool, effects, began_us, args, rule) "
	"VALUES (?, ?, ?, ?, ?, ?, ?)")
STATEMENT(STMT_CALL_END,
	"UPDATE run_calls SET verdict = ?3, code = ?4, result = ?5, took_us = ?6, "
	"approval = ?7 WHERE key = ?1 AND number = ?2")
STATEMENT(STMT_CALLS_COUNT, "SELECT count(*) FROM run_calls WHERE key = ?")
STATEMENT(STMT_CALLS_READ,
	"SELECT number, tool, effects, began_us, args, verdict, code, result, took_us, "
	"rule, approval FROM run_calls WHERE key = ? ORDER BY number")
STATEMENT(STMT_DISPLAY_INSERT,
	"INSERT OR REPLACE INTO displays (key, number, item, main, type, form, bytes, data) "
	"VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
STATEMENT(STMT_BLOB_FIND, "SELECT blob FROM blobs WHERE sha256 = ?")
STATEMENT(STMT_BLOB_INSERT, "INSERT INTO blobs (sha256, bytes) VALUES (?, ?)")
STATEMENT(STMT_BLOB_DATA_INSERT, "INSERT INTO blob_data (blob, codec, data) VALUES (?, ?, ?)")
STATEMENT(STMT_BLOB_READ,
	"SELECT blobs.bytes, codec, data FROM blobs JOIN blob_data USING (blob) WHERE blob = ?")
STATEMENT(STMT_RUN_READ,
	"SELECT key, run_id, caller_id, method, uid, gid, pid, agent, task, language, policy, "
	"entrypoint, received_us, ended_us, outcome, ran, reason, code_hash, input_hash, "
	"stdout_bytes, stderr_bytes, queue_us, policy_us, start_us, exec_us, collect_us, "
	"total_us, cpu_user_us, cpu_sys_us, memory_peak_bytes, disk_bytes, ctx_voluntary, "
	"ctx_forced, warm, cached_from, caller_exe, caller_name, session, outcome IS NULL AND "
	"EXISTS (SELECT 1 FROM parked WHERE parked.key = runs.key) FROM runs WHERE key = ?")
STATEMENT(STMT_RECORD_READ,
	"SELECT request, refused, code, stdin, setting, stdout, stdout_tail, stderr, "
	"stderr_tail, trace, more FROM records WHERE key = ?")
STATEMENT(STMT_INPUTS_READ, "SELECT path, mode, data FROM inputs WHERE key = ? ORDER BY number")
STATEMENT(STMT_ARTIFACTS_READ,
	"SELECT path, mode, mime, bytes, sha256, data FROM artifacts WHERE key = ? "
	"ORDER BY number")
STATEMENT(STMT_ARTIFACT_READ, "SELECT data FROM artifacts WHERE key = ? AND path = ?")
STATEMENT(STMT_DISPLAYS_READ,
	"SELECT item, main, type, form, bytes, data FROM displays WHERE key = ? ORDER BY number")
STATEMENT(STMT_DISPLAY_READ, "SELECT data FROM displays WHERE key = ? AND item = ? AND type = ?")
STATEMENT(STMT_INPUT_READ, "SELECT data FROM inputs WHERE key = ? AND path = ?")
STATEMENT(STMT_PENDING_NEXT, "SELECT key FROM pending WHERE key > ? ORDER BY key LIMIT 1")
STATEMENT(STMT_SETTLE_RUN,
	"SELECT key, outcome, language, uid, agent, task, code_hash, policy FROM runs "
	"WHERE key = ? AND outcome IS NOT NULL")
STATEMENT(STMT_SETTLE_BLOBS, RUN_BLOBS)
STATEMENT(STMT_BLOB_REF, "UPDATE blobs SET refs = refs + 1 WHERE blob = ?")
STATEMENT(STMT_FACET_INSERT, "INSERT OR IGNORE INTO facets (facet, value, key) VALUES (?, ?, ?)")
STATEMENT(STMT_RULES_INSERT,
	"INSERT OR IGNORE INTO facets (facet, value, key) SELECT 8, rule, key FROM findings "
	"WHERE key = ?")
STATEMENT(STMT_TEXT_FIND, "SELECT text FROM texts WHERE digest = ?")
STATEMENT(STMT_TEXT_INSERT, "INSERT INTO texts (digest) VALUES (?)")
STATEMENT(STMT_TEXT_DELETE, "DELETE FROM texts WHERE text = ?")
STATEMENT(STMT_WORDS_INSERT, "INSERT INTO words (rowid, text) VALUES (?, ?)")
STATEMENT(STMT_WORDS_DELETE, "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)")
STATEMENT(STMT_WORDS_FIND, "SELECT rowid FROM words WHERE words MATCH ?")
STATEMENT(STMT_WORDS_TEST, "SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?")
STATEMENT(STMT_WORDS_MERGE, "INSERT INTO words (words, rank) VALUES ('merge', ?)")
STATEMENT(STMT_PENDING_NEWEST, "SELECT key FROM pending ORDER BY key DESC LIMIT ?")
STATEMENT(STMT_MENTION_INSERT, "INSERT OR IGNORE INTO mentions (text, key) VALUES (?, ?)")
STATEMENT(STMT_MENTION_FIND, "SELECT key FROM mentions WHERE text = ? LIMIT 1")
STATEMENT(STMT_MENTION_DELETE, "DELETE FROM mentions WHERE text = ? AND key = ?")
STATEMENT(STMT_MENTION_BEFORE,
	"SELECT key FROM mentions WHERE text = ? AND key < ? ORDER BY key DESC LIMIT 1")
STATEMENT(STMT_RUN_TEXTS_INSERT,
	"INSERT OR REPLACE INTO run_texts (key, code, stdout, stderr) VALUES (?, ?, ?, ?)")
STATEMENT(STMT_RUN_TEXTS_READ, "SELECT code, stdout, stderr FROM run_texts WHERE key = ?")
STATEMENT(STMT_RUN_TEXTS_DELETE, "DELETE FROM run_texts WHERE key = ?")
STATEMENT(STMT_PENDING_DELETE, "DELETE FROM pending WHERE key = ?")
STATEMENT(STMT_LOST_NEXT,
	"SELECT key FROM pending JOIN runs USING (key) WHERE key > ? AND outcome IS NULL "
	"AND key NOT IN (SELECT key FROM parked) ORDER BY key LIMIT 1")
STATEMENT(STMT_LOST,
	"UPDATE runs SET outcome = 'lost', ran = 'unknown', ended_us = ?2, "
	"reason = 'the daemon ended while this ran; nobody knows how far it came' "
	"WHERE key = ?1")
STATEMENT(STMT_CHAIN_END, "SELECT link, head FROM chain ORDER BY link DESC LIMIT 1")
STATEMENT(STMT_CHAIN_INSERT,
	"INSERT INTO chain (link, kind, subject, digest, head) VALUES (?, ?, ?, ?, ?)")
STATEMENT(STMT_CHAIN_HEAD, "SELECT head FROM chain WHERE link = ?")
STATEMENT(STMT_CHAIN_WALK,
	"SELECT link, kind, subject, digest, head FROM chain WHERE link >= ? ORDER BY link "
	"LIMIT ?")
/* The index chain_by_subject has the same condition. */
STATEMENT(STMT_CHAIN_FIND,
	"SELECT link, digest FROM chain WHERE kind > 1 AND subject = ? AND kind = ? "
	"ORDER BY link DESC LIMIT 1")
STATEMENT(STMT_CHECKPOINT_INSERT,
	"INSERT INTO checkpoints (at_us, links, head, public_key, signature) "
	"VALUES (?, ?, ?, ?, ?)")
STATEMENT(STMT_CHECKPOINT_LAST,
	"SELECT checkpoint, at_us, links, head, public_key, signature FROM checkpoints "
	"ORDER BY checkpoint DESC LIMIT 1")
STATEMENT(STMT_CHECKPOINT_WALK,
	"SELECT checkpoint, at_us, links, head, public_key, signature FROM checkpoints "
	"WHERE checkpoint >= ? ORDER BY checkpoint LIMIT ?")
STATEMENT(STMT_BLOB_LAST, "SELECT max(blob) FROM blobs")
STATEMENT(STMT_BLOB_WALK,
	"SELECT blob, sha256, bytes, codec, data FROM blobs LEFT JOIN blob_data USING (blob) "
	"WHERE blob >= ? ORDER BY blob LIMIT ?")
STATEMENT(STMT_RUN_ID, "SELECT run_id FROM runs WHERE key = ?")
STATEMENT(STMT_PENDING_HAS, "SELECT 1 FROM pending WHERE key = ?")
STATEMENT(STMT_PRUNED_ACT, "SELECT act FROM pruned WHERE key = ?")
STATEMENT(STMT_PRUNED_READ, "SELECT digests FROM pruned WHERE key = ?")
STATEMENT(STMT_PRUNED_INSERT, "INSERT INTO pruned (key, act, digests) VALUES (?, ?, ?)")
STATEMENT(STMT_BLOB_DIGEST, "SELECT sha256, bytes FROM blobs WHERE blob = ?")
STATEMENT(STMT_BLOB_UNREF, "UPDATE blobs SET refs = refs - 1 WHERE blob = ?")
STATEMENT(STMT_BLOB_UNHELD,
	"SELECT (SELECT length(data) FROM blob_data WHERE blob_data.blob = ?1) "
	"FROM blobs WHERE blob = ?1 AND refs <= 0 AND NOT EXISTS (SELECT 1 FROM "
	"pending CROSS JOIN records USING (key) WHERE ?1 IN (code, stdin, setting, stdout, "
	"stdout_tail, stderr, stderr_tail, trace, more, request, refused)) AND NOT EXISTS "
	"(SELECT 1 FROM pending CROSS JOIN inputs USING (key) WHERE data = ?1) AND NOT EXISTS "
	"(SELECT 1 FROM pending CROSS JOIN artifacts USING (key) WHERE data = ?1) AND NOT EXISTS "
	"(SELECT 1 FROM pending CROSS JOIN run_calls USING (key) WHERE ?1 IN (args, result)) "
	"AND NOT EXISTS (SELECT 1 FROM pending CROSS JOIN displays USING (key) WHERE data = ?1)")
STATEMENT(STMT_BLOB_DELETE, "DELETE FROM blobs WHERE blob = ?")
STATEMENT(STMT_BLOB_DATA_DELETE, "DELETE FROM blob_data WHERE blob = ?")
STATEMENT(STMT_ACT_INSERT,
	"INSERT INTO acts (at_us, uid, gid, pid, method, params, result) "
	"VALUES (?, ?, ?, ?, ?, ?, ?)")
STATEMENT(STMT_ACTS_READ,
	"SELECT act, at_us, uid, gid, pid, method, params, result FROM acts WHERE act < ? "
	"ORDER BY act DESC LIMIT ?")
STATEMENT(STMT_BLOCK_INSERT, "INSERT OR REPLACE INTO blocks (uid, act, reason) VALUES (?, ?, ?)")
STATEMENT(STMT_BLOCK_DELETE, "DELETE FROM blocks WHERE uid = ?")
/* A user whom the acts block is blocked, whatever the table has. */
STATEMENT(STMT_BLOCKS_READ,
	LAST_ACTS "SELECT uid, reason FROM blocks UNION ALL SELECT uid, reason FROM last "
	"WHERE method = 'admin.block' AND uid NOT IN (SELECT uid FROM blocks) ORDER BY uid")
STATEMENT(STMT_SPENT_READ,
	"SELECT uid, agent, task, ended_us, outcome, ifnull(cpu_user_us + cpu_sys_us, 0), "
	"ifnull(max(start_us, 0) + max(exec_us, 0), 0), ifnull(stored_bytes, ifnull(stdout_bytes + "
	"stderr_bytes, 0)) FROM runs WHERE key >= max(?1, ifnull((SELECT key FROM runs ORDER BY key DESC "
	"LIMIT 1 OFFSET ?2), 0)) AND outcome IS NOT NULL AND method = 'run' "
	"AND ifnull(stored_bytes, 0) >= 0 ORDER BY key")
STATEMENT(STMT_RESETS_READ,
	"SELECT at_us, uid, params FROM acts WHERE method = 'admin.reset_budget' "
	"AND at_us >= ? ORDER BY act")
STATEMENT(STMT_ACTION_PUT,
	"INSERT OR REPLACE INTO actions (uid, caller_id, content, key) VALUES (?, ?, ?, ?)")
STATEMENT(STMT_ACTION_DELETE,
	"DELETE FROM actions WHERE uid = ?1 AND key = ?2 AND caller_id = "
	"(SELECT caller_id FROM runs AS r WHERE r.key = ?2 AND r.uid = ?1)")
STATEMENT(STMT_ACTION_FIND,
	"SELECT a.content, r.run_id, r.outcome FROM actions AS a JOIN runs AS r USING (key) "
	"WHERE a.uid = ?1 AND a.caller_id = ?2 AND r.uid = ?1 AND r.caller_id = ?2 "
	"AND a.content = r.action")
STATEMENT(STMT_ACTION_DONE,
	"SELECT r.action, r.run_id, r.outcome FROM runs AS r WHERE r.uid = ?1 AND "
	"r.caller_id = ?2 AND r.method = 'run' AND r.action IS NOT NULL ORDER BY r.key DESC LIMIT 1")
STATEMENT(STMT_NAMED_FIND,
	"SELECT run_id FROM runs WHERE uid = ? AND caller_id = ? "
	"ORDER BY key DESC LIMIT 1")
STATEMENT(STMT_CACHED_PUT,
	"INSERT OR REPLACE INTO cached (cache_key, key, at_us) VALUES (?, ?, ?)")
STATEMENT(STMT_CACHED_TRIM,
	"DELETE FROM cached WHERE cache_key IN (SELECT cache_key FROM cached ORDER BY at_us "
	"LIMIT ?)")
STATEMENT(STMT_CACHED_FIND,
	"SELECT r.run_id FROM cached AS c JOIN runs AS r USING (key) WHERE c.cache_key = ? "
	"AND c.at_us >= ? AND r.cache_key = c.cache_key AND r.ended_us = c.at_us")
STATEMENT(STMT_RETENTION_NEXT,
	"SELECT r.key, r.run_id FROM runs AS r WHERE r.key > ? AND r.key <= ? "
	"AND r.outcome IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pruned AS p WHERE p.key = r.key) "
	"ORDER BY r.key LIMIT ?")
/* All contents that store_prune() removes, see chain_columns.c. */
STATEMENT(STMT_RETENTION_CONTENTS,
	RUN_BLOBS " UNION ALL SELECT text, message, " NINE_ZEROES " FROM findings WHERE key = ?1")
STATEMENT(STMT_RECORD_NEXT,
	"SELECT key FROM records WHERE key > ? AND key <= ? ORDER BY key LIMIT 1")
STATEMENT(STMT_BLOB_SIZE,
	"SELECT refs, length(data) FROM blobs JOIN blob_data USING (blob) WHERE blob = ?")
STATEMENT(STMT_CACHED_PRUNED,
	"DELETE FROM cached WHERE key IN (SELECT key FROM pruned WHERE act = ?)")
/* A forged copy may have an id twice; an export must not go back and loop. */
STATEMENT(STMT_EXPORT_AFTER,
	"SELECT key FROM runs WHERE key BETWEEN ?1 AND ?1 + 15 AND run_id = ?2 "
	"ORDER BY key DESC LIMIT 1")
STATEMENT(STMT_EXPORT_IDS,
	"SELECT run_id FROM runs WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?")
STATEMENT(STMT_PARKED_INSERT,
	"INSERT OR REPLACE INTO parked (key, since_us, until_us, verdict) VALUES (?, ?, ?, ?)")
STATEMENT(STMT_PARKED_DECIDE,
	"UPDATE parked SET decision = ?2, act = ?3 WHERE key = ?1 AND decision IS NULL")
STATEMENT(STMT_PARKED_DELETE, "DELETE FROM parked WHERE key = ?")
STATEMENT(STMT_PARKED_READ,
	"WITH " DECIDED " SELECT r.run_id, r.uid, r.gid, r.pid, r.received_us, p.since_us, "
	"p.until_us, d.decision, d.act, d.uid, d.at_us, d.reason, r.caller_id, r.action, p.key FROM parked AS p JOIN runs AS r USING (key) "
	"LEFT JOIN decided AS d ON d.run_id = r.run_id AND " ACT_LINK("d.act") " > " PARKED_LINK("p.key")
	" WHERE r.outcome IS NULL ORDER BY p.key")
STATEMENT(STMT_PARKED_LIST,
	"SELECT run_id, verdict, since_us, until_us, code_hash, input_hash, key "
	"FROM parked JOIN runs USING (key) WHERE outcome IS NULL AND key > ?2 "
	"AND CASE WHEN ?1 IS NULL THEN decision IS NULL OR NOT EXISTS (SELECT 1 FROM acts AS a "
	"WHERE a.act = parked.act AND " ACT_RESULT("run_id") " = runs.run_id AND "
	ACT_RESULT("decision") " = parked.decision) ELSE run_id = ?1 END "
	"ORDER BY key LIMIT ?3")
STATEMENT(STMT_GRANT_INSERT,
	"INSERT INTO grants (act, uid, subject, code_hash, language, policy, until_us, uses) "
	"VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
STATEMENT(STMT_GRANTS_OVER, "DELETE FROM grants WHERE uses <= 0 OR until_us <= ?")
STATEMENT(STMT_GRANT_USE, "UPDATE grants SET uses = uses - 1 WHERE act = ?")
STATEMENT(STMT_GRANT_DELETE, "DELETE FROM grants WHERE act = ?")
STATEMENT(STMT_GRANTS_READ,
	"SELECT g.act, g.uid, g.subject, g.code_hash, g.language, g.policy, g.until_us, g.uses, "
	"a.uid AS by, a.at_us, a.params ->> '$.reason' AS reason FROM grants AS g JOIN acts AS a USING (act) "
	"WHERE coalesce(g.uses, 1) > 0 AND g.until_us > ? AND NOT (" GRANT_DIFFERS ") "
	"AND NOT " GRANT_WAS_REVOKED("g.act") " ORDER BY g.act")
/* clang-format on */
