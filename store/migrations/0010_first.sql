-- The tables of the store.  This file is never edited after a release; a change comes in a file
-- 0002_... and so on.
--
-- A run's key is made of its run_id: the milliseconds in it, then its last 20 bits.  So keys sort
-- as run ids do, a span of time is a span of keys, and no index from run_id to key is needed.
--
-- A run writes as few pages as possible, since a client waits for them: a row in `runs` that lists
-- need, a row in `records` with the rest, a row in `pending`.  The index (facets, words, reference
-- counts of blobs) is written later, when the writer is idle; then the run leaves `pending`.

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
	warm INTEGER,
	cached_from TEXT,               -- the run whose result this is
	caller_exe TEXT,                -- executable of the process that connected, if the kernel says so
	caller_name TEXT,               -- the name that this process gives itself
	stored_bytes INTEGER,           -- of request and result, as budgets counted them; -1: not counted
	action BLOB,                    -- as actions.content; NULL: it holds no name
	cache_key BLOB,                 -- as in `cached`; NULL: its result is not reused
	session TEXT,                   -- of a cell
	cell INTEGER                    -- its number in the session; NULL: it did not begin
);

CREATE INDEX runs_by_session ON runs (session) WHERE session IS NOT NULL;
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

CREATE TABLE displays (                 -- what a run displayed: a row for each type of an item
	key INTEGER NOT NULL,
	number INTEGER NOT NULL,        -- of the row
	item INTEGER NOT NULL,          -- from 1
	main INTEGER NOT NULL,          -- 1: the value of the last expression
	type TEXT NOT NULL,             -- media type, as the program named it
	form INTEGER NOT NULL,          -- 0: text, 1: bytes, 2: a value, as JSON
	bytes INTEGER NOT NULL,         -- of `data`
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

CREATE TABLE run_calls (                -- calls of tools, by the program
	key INTEGER NOT NULL,
	number INTEGER NOT NULL,        -- from 1
	tool TEXT NOT NULL,             -- as the program named it
	effects INTEGER NOT NULL,       -- 1: this row was on the disk before the client saw the call
	began_us INTEGER NOT NULL,      -- since 1970
	args,                           -- JSON, or what the program sent instead
	verdict TEXT,                   -- NULL: the daemon ended meanwhile.  allowed, refused, ...
	code TEXT,                      -- of its error; NULL: it has a result
	result,                         -- JSON: the result or the error
	took_us INTEGER,
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
	refs INTEGER NOT NULL DEFAULT 0 -- contents of runs that have left `pending`
);

CREATE TABLE blob_data (
	blob INTEGER PRIMARY KEY,
	codec INTEGER NOT NULL,         -- 0: as it is, 1: zstd
	data BLOB NOT NULL
);

CREATE TABLE pending (                  -- running, or not yet in facets and refs
	key INTEGER PRIMARY KEY
);

CREATE TABLE facets (                   -- the columns by which lists filter
	facet INTEGER NOT NULL,         -- enum facet in store/base/facet.h
	value NOT NULL,
	key INTEGER NOT NULL,
	PRIMARY KEY (facet, value, key)
) WITHOUT ROWID;

-- The words of programs and of their output.  The index has each text once, however many runs share
-- it.

CREATE TABLE texts (
	text INTEGER PRIMARY KEY,       -- also its row in `words`
	digest BLOB NOT NULL UNIQUE     -- the first half of the SHA-256 of the indexed bytes
);

CREATE VIRTUAL TABLE words USING fts5(
	text, content = '', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2');

CREATE TABLE mentions (                 -- the runs that hold a text
	text INTEGER NOT NULL,
	key INTEGER NOT NULL,
	PRIMARY KEY (text, key)
) WITHOUT ROWID;

CREATE TABLE run_texts (                -- the texts that a run holds
	key INTEGER PRIMARY KEY,
	code INTEGER,
	stdout INTEGER,
	stderr INTEGER
);

-- What need not run again.

CREATE TABLE actions (                  -- one run for each id that a caller gave; deleted if nothing of it ran
	uid INTEGER NOT NULL,
	caller_id TEXT NOT NULL,
	content BLOB NOT NULL,          -- SHA-256 of the request, 32 bytes
	key INTEGER NOT NULL,           -- of the run
	PRIMARY KEY (uid, caller_id)
) WITHOUT ROWID;

CREATE TABLE cached (                   -- results that may be reused
	cache_key BLOB PRIMARY KEY,     -- SHA-256 of everything that decides a result, and of its caller
	key INTEGER NOT NULL,           -- of the run
	at_us INTEGER NOT NULL          -- since 1970
) WITHOUT ROWID;

CREATE INDEX cached_by_age ON cached (at_us);

-- Acts of administrators and approvers, and what follows from them.

CREATE TABLE acts (
	act INTEGER PRIMARY KEY,
	at_us INTEGER NOT NULL,         -- since 1970
	uid INTEGER NOT NULL,
	gid INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	method TEXT NOT NULL,
	params TEXT NOT NULL,           -- JSON, as requested
	result TEXT NOT NULL            -- JSON, as answered
);

CREATE TABLE blocks (                   -- users who are blocked; changed in the transaction of the act
	uid INTEGER PRIMARY KEY,
	act INTEGER NOT NULL,
	reason TEXT
);

-- A run that waits for approval stands in `runs` and `records` as one that has begun.  Its row here is
-- deleted when its program is about to be sent to a worker, or with the transaction that records its
-- end.
CREATE TABLE parked (
	key INTEGER PRIMARY KEY,        -- of the run
	since_us INTEGER NOT NULL,      -- since 1970
	until_us INTEGER NOT NULL,
	verdict TEXT NOT NULL,          -- JSON: the findings of the policy
	decision TEXT,                  -- approved, denied; NULL: there is none yet
	act INTEGER                     -- that decided
);

CREATE TABLE grants (                   -- approvals of later runs
	act INTEGER PRIMARY KEY,        -- that gave it; also its name
	uid INTEGER NOT NULL,           -- whose runs
	subject TEXT NOT NULL,          -- digest of the approved content and of its policy
	code_hash TEXT NOT NULL,        -- for people
	language TEXT NOT NULL,
	policy TEXT NOT NULL,
	until_us INTEGER NOT NULL,
	uses INTEGER                    -- that are left; NULL: no limit
);

CREATE TABLE pruned (                   -- runs whose contents were deleted
	key INTEGER PRIMARY KEY,
	act INTEGER NOT NULL,           -- that deleted them
	digests BLOB NOT NULL           -- of the contents: store/base/pruned.h
);

CREATE INDEX pruned_by_act ON pruned (act);
CREATE INDEX labels_by_key ON labels (key);

-- The chain has a row for each record that was finished, in that order.  `head` is over the head before
-- it and over the rest of the row, so a row that is changed, removed, added or moved does not fit the
-- next one.  store/base/chain.h and canonical.h say what goes into the digests.

CREATE TABLE chain (
	link INTEGER PRIMARY KEY,       -- 1, 2, 3 ... without a gap
	kind INTEGER NOT NULL,          -- enum chain_kind in store/base/chain.h
	subject INTEGER NOT NULL,       -- key of the run, number of the act ...
	digest BLOB NOT NULL,           -- SHA-256 of its canonical form
	head BLOB NOT NULL
);

-- Links of everything but ended runs, found by their subject.
CREATE INDEX chain_by_subject ON chain (subject, kind, link) WHERE kind > 1;

CREATE TABLE checkpoints (              -- heads that were signed; the same stand in the checkpoint file
	checkpoint INTEGER PRIMARY KEY,
	at_us INTEGER NOT NULL,
	links INTEGER NOT NULL,
	head BLOB NOT NULL,
	public_key BLOB NOT NULL,       -- Ed25519
	signature BLOB NOT NULL         -- over the line in store/base/checkpoint.h
);

-- For people with sqlite3: the steps of each run.
CREATE VIEW steps AS
	SELECT runs.run_id, step.key + 1 AS number, step.value ->> '$.phase' AS phase,
		step.value ->> '$.step' AS step, step.value ->> '$.t_us' AS t_us,
		step.value ->> '$.ok' AS ok, step.value ->> '$.note' AS note
	FROM runs JOIN records USING (key), json_each(records.trace) AS step
	WHERE typeof(records.trace) = 'text';
