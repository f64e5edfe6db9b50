-- What tells whether anybody has touched the record since it was written.
--
-- One row for each record that was finished, in the order in which that happened.  `head` is over
-- the head before it and over the rest of the row, so a row that is changed, taken out, put in or
-- moved no longer fits the next.  What a record's canonical form is, stands in store/evidence.c.

CREATE TABLE chain (
	link INTEGER PRIMARY KEY,       -- 1, 2, 3 ... without a gap
	kind INTEGER NOT NULL,          -- enum chain_kind in store/chain.h
	subject INTEGER NOT NULL,       -- key of the run, number of the act ...
	digest BLOB NOT NULL,           -- SHA-256 of its canonical form
	head BLOB NOT NULL
);

CREATE TABLE checkpoints (              -- heads that were signed; the same stand in a second file
	checkpoint INTEGER PRIMARY KEY,
	at_us INTEGER NOT NULL,
	links INTEGER NOT NULL,
	head BLOB NOT NULL,
	public_key BLOB NOT NULL,       -- Ed25519
	signature BLOB NOT NULL         -- over the words of store/checkpoint.h
);

CREATE TABLE pruned (                   -- runs whose contents were taken away
	key INTEGER PRIMARY KEY,
	act INTEGER NOT NULL,           -- that says so
	digests BLOB NOT NULL           -- of those contents: store/prune.h
);

CREATE INDEX pruned_by_act ON pruned (act);
CREATE INDEX labels_by_key ON labels (key);
