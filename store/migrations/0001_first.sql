-- The first form of the store.  This file is never edited; what changes comes as 0002 and so on.
--
-- A run's key is made of its run_id: the milliseconds in it, then its last 20 bits.  So keys sort
-- as run ids do, a span of time is a span of keys, and no index from run_id to key is needed.
--
-- A run writes as few pages as can be, since a client waits for them: a row that lists need, a row
-- with the rest, a row in `pending`.  What makes lists fast (facets) and blobs countable (refs)
-- is added later, when the writer is idle, and then the run leaves `pending`.

CREATE TABLE runs (
	key INTEGER PRIMARY KEY,
	run_id TEXT NOT NULL,
	caller_id TEXT,                 -- the caller's own name for it
	method TEXT NOT NULL,
	uid INTEGER NOT NULL,
	gid INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	agent TEXT,
	task TEXT,
	language TEXT,
	policy TEXT,
	entrypoint TEXT,
	received_us INTEGER NOT NULL,   -- since 1970
	ended_us INTEGER,
	outcome TEXT,                   -- NULL while it runs
	ran TEXT,
	reason TEXT,
	code_hash BLOB,                 -- SHA-256, 32 bytes
	input_hash BLOB,
	stdout_bytes INTEGER,           -- written by the program, kept or not
	stderr_bytes INTEGER,
	queue_us INTEGER,
	policy_us INTEGER,
	start_us INTEGER,
	exec_us INTEGER,
	collect_us INTEGER,
	total_us INTEGER,
	cpu_user_us INTEGER,
	cpu_sys_us INTEGER,
	memory_peak_bytes INTEGER,
	disk_bytes INTEGER,
	ctx_voluntary INTEGER,
	ctx_forced INTEGER,
	warm INTEGER
);

CREATE INDEX runs_by_caller_id ON runs (uid, caller_id) WHERE caller_id IS NOT NULL;

-- Contents: a BLOB or TEXT holds the bytes themselves, an INTEGER names a row of `blobs`.
CREATE TABLE records (
	key INTEGER PRIMARY KEY,
	request,                        -- JSON: what was asked, without what has a place of its own
	refused,                        -- JSON: the params, when the contract refused them
	code,
	stdin,
	setting,                        -- JSON: limits in force, runtime, policy
	stdout,
	stdout_tail,
	stderr,
	stderr_tail,
	trace,                          -- JSON: the steps
	more                            -- JSON: everything else in the result
);

CREATE TABLE inputs (                   -- files that came with a request
	key INTEGER NOT NULL,
	number INTEGER NOT NULL,
	path NOT NULL,
	mode INTEGER NOT NULL,
	data,
	PRIMARY KEY (key, number)
) WITHOUT ROWID;

CREATE TABLE artifacts (
	key INTEGER NOT NULL,
	number INTEGER NOT NULL,
	path NOT NULL,
	mode INTEGER NOT NULL,
	mime TEXT,
	bytes INTEGER NOT NULL,
	sha256 BLOB NOT NULL,
	data,
	PRIMARY KEY (key, number)
) WITHOUT ROWID;

CREATE TABLE findings (                 -- of the policy
	key INTEGER NOT NULL,
	number INTEGER NOT NULL,
	rule TEXT NOT NULL,
	severity TEXT NOT NULL,
	line INTEGER NOT NULL,
	column INTEGER NOT NULL,
	text TEXT,
	message TEXT,
	PRIMARY KEY (key, number)
) WITHOUT ROWID;

CREATE TABLE labels (
	name TEXT NOT NULL,
	value NOT NULL,
	key INTEGER NOT NULL,
	PRIMARY KEY (name, value, key)
) WITHOUT ROWID;

CREATE TABLE blobs (
	blob INTEGER PRIMARY KEY,
	sha256 BLOB NOT NULL UNIQUE,
	bytes INTEGER NOT NULL,
	refs INTEGER NOT NULL DEFAULT 0 -- from runs that have left `pending`
);

CREATE TABLE blob_data (
	blob INTEGER PRIMARY KEY,
	codec INTEGER NOT NULL,         -- 0: as it is, 1: zstd
	data BLOB NOT NULL
);

CREATE TABLE pending (                  -- running, or not yet in facets and refs
	key INTEGER PRIMARY KEY
);

CREATE TABLE facets (                   -- what lists filter by
	facet INTEGER NOT NULL,         -- 1 outcome, 2 language, 3 uid, 4 agent, 5 task, 6 code_hash
	value NOT NULL,
	key INTEGER NOT NULL,
	PRIMARY KEY (facet, value, key)
) WITHOUT ROWID;

CREATE VIEW steps AS
	SELECT runs.run_id, step.key + 1 AS number, step.value ->> '$.phase' AS phase,
		step.value ->> '$.step' AS step, step.value ->> '$.t_us' AS t_us,
		step.value ->> '$.ok' AS ok, step.value ->> '$.note' AS note
	FROM runs JOIN records USING (key), json_each(records.trace) AS step
	WHERE typeof(records.trace) = 'text';
