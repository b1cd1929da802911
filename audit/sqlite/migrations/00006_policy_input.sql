-- What else a decision on a tool call depended on, so that another policy can be asked what it would
-- have decided: a JSON object in RFC 8785 form. What the record has in columns of its own is not in it
-- again. Secrets are replaced by keyed hashes, and "hidden" names them.

-- +goose Up
ALTER TABLE audit_events ADD COLUMN policy_input TEXT; -- time, groups, command, paths, counters: JSON

-- +goose Down
ALTER TABLE audit_events DROP COLUMN policy_input;
