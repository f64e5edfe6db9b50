-- What `actions` and `cached` are held against: each run says itself what it did and may be told for.
-- NULL in runs that were recorded before.

ALTER TABLE runs ADD COLUMN action BLOB;        -- as actions.content; NULL: it holds no name
ALTER TABLE runs ADD COLUMN cache_key BLOB;     -- as in `cached`; NULL: its result is not told again

DELETE FROM cached;                             -- of older runs: they run once more

-- Links of all but ended runs, found by what they are about.
CREATE INDEX chain_by_subject ON chain (subject, kind, link) WHERE kind > 1;
