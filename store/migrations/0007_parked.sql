-- Runs that wait for a person's word, and words that hold for runs to come.

-- Such a run stands in `runs` and `records` as one that has begun.  Its row here goes when its
-- program is about to be sent to a worker, or with the transaction that records its end.
CREATE TABLE parked (
	key INTEGER PRIMARY KEY,        -- of the run
	since_us INTEGER NOT NULL,      -- since 1970
	until_us INTEGER NOT NULL,
	verdict TEXT NOT NULL,          -- JSON: what the policy found
	decision TEXT,                  -- approved, denied; NULL while nobody has said anything
	act INTEGER                     -- by which
);

CREATE TABLE grants (
	act INTEGER PRIMARY KEY,        -- by which; also its name
	uid INTEGER NOT NULL,           -- whose runs
	subject TEXT NOT NULL,          -- digest of what was judged, and of the policy that did
	code_hash TEXT NOT NULL,        -- for people
	language TEXT NOT NULL,
	policy TEXT NOT NULL,
	until_us INTEGER NOT NULL,
	uses INTEGER                    -- that are left; NULL: as many as wanted
);
