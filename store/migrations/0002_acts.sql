-- What administrators did to the daemon itself, and whom they shut out.

CREATE TABLE acts (
	act INTEGER PRIMARY KEY,
	at_us INTEGER NOT NULL,         -- since 1970
	uid INTEGER NOT NULL,
	gid INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	method TEXT NOT NULL,
	params TEXT NOT NULL,           -- JSON, as it was asked
	result TEXT NOT NULL            -- JSON, as it was answered
);

-- What is in force of it: changed in the transaction of the act.
CREATE TABLE blocks (
	uid INTEGER PRIMARY KEY,
	act INTEGER NOT NULL,
	reason TEXT
);
