-- What a run was counted for, so that a budget is the same after a restart.

ALTER TABLE runs ADD COLUMN stored_bytes INTEGER; -- of request and result, as its budgets had it; 0: it spent nothing
