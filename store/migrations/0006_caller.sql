-- Who called, beyond what a number says.

ALTER TABLE runs ADD COLUMN caller_exe TEXT;    -- the executable of the process that connected, where the kernel tells
ALTER TABLE runs ADD COLUMN caller_name TEXT;   -- what that process calls itself
