-- The request that a record belongs to: the id in the header X-Request-Id and in problem details. Asking
-- for what belongs to somebody else is answered as if it were not there, and is a permission.denied.

-- +goose Up
ALTER TABLE audit_events ADD COLUMN request_id TEXT; -- id of the request that it happened in
DROP VIEW denials;
CREATE VIEW denials AS
SELECT seq, time, type, user, role, address, run, agent, call, tool, action, method, path, code, rule, reasons, error, thread, request_id
FROM audit_events
WHERE type IN ('tool.denied', 'login.failed', 'permission.denied')
   OR (type = 'request' AND code IN (401, 403))
   OR (type NOT LIKE 'tool.%' AND decision = 'deny');

-- +goose Down
DROP VIEW denials;
CREATE VIEW denials AS
SELECT seq, time, type, user, role, address, run, agent, call, tool, action, method, path, code, rule, reasons, error
FROM audit_events
WHERE type IN ('tool.denied', 'login.failed')
   OR (type = 'request' AND code IN (401, 403))
   OR (type NOT LIKE 'tool.%' AND decision = 'deny');
ALTER TABLE audit_events DROP COLUMN request_id;
