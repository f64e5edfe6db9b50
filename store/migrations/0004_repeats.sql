-- What need not run again: actions that their callers named, and results that may be told again.

-- One run for each name that a caller gave; taken back when nothing of it ran.
CREATE TABLE actions (
	uid INTEGER NOT NULL,
	caller_id TEXT NOT NULL,
	content BLOB NOT NULL,          -- SHA-256 of what was asked, 32 bytes
	key INTEGER NOT NULL,           -- of the run
	PRIMARY KEY (uid, caller_id)
) WITHOUT ROWID;

CREATE TABLE cached (
	cache_key BLOB PRIMARY KEY,     -- SHA-256 of all that decides a result, its caller among it
	key INTEGER NOT NULL,           -- of the run
	at_us INTEGER NOT NULL          -- since 1970
) WITHOUT ROWID;

CREATE INDEX cached_by_age ON cached (at_us);

ALTER TABLE runs ADD COLUMN cached_from TEXT; -- the run that this is the result of
