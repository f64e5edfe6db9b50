-- How runs are found by what they say: by the words of their programs and of what they wrote.  The
-- index knows each text once, however many runs share it.  And two facets more: policy and rule.
--
-- All of it is written when nobody waits (store/settle.h), never with the record.

CREATE TABLE texts (
	text INTEGER PRIMARY KEY,       -- also its row in `words`
	digest BLOB NOT NULL UNIQUE     -- of what was indexed: the first half of its SHA-256
);

CREATE VIRTUAL TABLE words USING fts5(
	text, content = '', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2');

CREATE TABLE mentions (                 -- who holds a text
	text INTEGER NOT NULL,
	key INTEGER NOT NULL,
	PRIMARY KEY (text, key)
) WITHOUT ROWID;

CREATE TABLE run_texts (                -- and what a run holds
	key INTEGER PRIMARY KEY,
	code INTEGER,
	stdout INTEGER,
	stderr INTEGER
);

-- facets: 7 policy, 8 rule of a finding.  What has settled settles again, with everything.
DELETE FROM facets;
UPDATE blobs SET refs = 0;
INSERT OR IGNORE INTO pending (key) SELECT key FROM runs;
