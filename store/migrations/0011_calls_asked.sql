-- What a policy says about a call of a tool, and what an approver decided.
ALTER TABLE run_calls ADD COLUMN rule TEXT;     -- of the policy, about this tool; NULL: it has none
ALTER TABLE run_calls ADD COLUMN approval TEXT; -- JSON: who decided, and when; NULL: nobody was asked
