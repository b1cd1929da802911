-- The audit log. This file is its documentation: SQLite keeps the comments beside the columns, so
-- that `sqlite3 -readonly audit.db .schema` explains the rows.
--
-- Rows are only ever added. Text columns that do not apply are NULL, never ''. Times are RFC 3339 in
-- UTC with milliseconds (2027-01-31T09:30:00.125Z): one width, so that they sort and compare as text,
-- and the date functions of SQL take them. Credentials were replaced by REDACTED before writing.
--
-- hash is the SHA-256, in hexadecimal, of the record: the RFC 8785 form of a JSON object with a member
-- for each column that is not NULL, seq and hash left out; reasons, labels and findings are JSON
-- values in it, duration, code and the token counts numbers, everything else strings. `service audit
-- export` writes the same objects with seq and hash.
--
-- No STRICT, no generated columns: sqlite3 programs of old distributions must be able to read this.

-- +goose Up
CREATE TABLE audit_events (
  seq          INTEGER PRIMARY KEY, -- order of recording
  time         TEXT NOT NULL,       -- when it happened
  node         TEXT NOT NULL,       -- id of the machine that recorded it
  type         TEXT NOT NULL,       -- request, login, login.failed, logout, lockout, token.new_address, permission.denied, account.created, admin, run.start, run.end, tool.start, tool.end, tool.error, tool.denied, injection
  run          TEXT,                -- id of the run it belongs to
  thread       TEXT,                -- id of the run's thread
  agent        TEXT,                -- name of the agent that acted
  user         TEXT,                -- who is answerable: the principal's name
  role         TEXT,                -- the role it acted with: admin, user, readonly
  on_behalf_of TEXT,                -- user that an admin acted for
  address      TEXT,                -- the client's network address
  token_id     TEXT,                -- id (not the value) of the token that was used
  call         TEXT,                -- id of the tool call, the same in all its events
  tool         TEXT,                -- name of the tool
  action       TEXT,                -- what the call needed leave for: use, mutate, install, admin, approve-write
  input        TEXT,                -- arguments as the model wrote them
  output       TEXT,                -- what the tool gave back
  duration     REAL,                -- seconds
  error        TEXT,                -- what went wrong, for people
  traceback    TEXT,                -- where, for developers
  decision     TEXT,                -- allow, log, approve, deny
  rule         TEXT,                -- name of the rule that decided
  reasons      TEXT,                -- why: JSON array of strings
  policy_hash  TEXT,                -- which policy decided
  digest       TEXT,                -- SHA-256 that an approval of the call is bound to
  findings     TEXT,                -- what the scanner found: JSON array
  labels       TEXT,                -- where the words behind it came from: JSON array of strings
  status       TEXT,                -- outcome: success, error, denied, rejected, expired, timeout, cancelled, unknown
  method       TEXT,                -- type request: HTTP method
  path         TEXT,                -- type request: path of the URL
  code         INTEGER,             -- type request: HTTP status that was sent
  hash         TEXT NOT NULL        -- SHA-256 of the record, see above
);

-- Three indexes: each one costs every row.
CREATE INDEX audit_events_time ON audit_events (time);
CREATE INDEX audit_events_user ON audit_events (user) WHERE user IS NOT NULL;
CREATE INDEX audit_events_call ON audit_events (run, call) WHERE run IS NOT NULL;

-- What the models used: one row each time one finished a turn.
CREATE TABLE audit_runs (
  seq               INTEGER PRIMARY KEY, -- order of recording
  time              TEXT NOT NULL,       -- when the turn ended
  node              TEXT NOT NULL,       -- id of the machine that recorded it
  run               TEXT NOT NULL,       -- id of the run
  thread            TEXT,                -- id of the run's thread
  agent             TEXT,                -- name of the agent whose turn it was
  model             TEXT,                -- name of the model
  user              TEXT,                -- owner of the run
  prompt_tokens     INTEGER NOT NULL,    -- tokens read
  completion_tokens INTEGER NOT NULL,    -- tokens written
  total_tokens      INTEGER NOT NULL,    -- what the provider counts as used
  estimated         INTEGER NOT NULL,    -- 1: the provider gave no counts, these are our estimate
  duration          REAL,                -- seconds the turn took
  hash              TEXT NOT NULL        -- SHA-256 of the record, see above
);

-- One row a tool call: how it began, what was decided and how it ended.
CREATE VIEW tool_calls AS
SELECT
  s.call, s.time, s.run, s.thread, s.agent, s.user, s.tool, s.action,
  coalesce(e.decision, s.decision) AS decision,
  coalesce(e.rule, s.rule) AS rule,
  coalesce(e.reasons, s.reasons) AS reasons,
  coalesce(e.status,
    CASE e.type WHEN 'tool.end' THEN 'success' WHEN 'tool.error' THEN 'error' WHEN 'tool.denied' THEN 'denied' END,
    s.status,
    CASE s.type WHEN 'tool.denied' THEN 'denied' ELSE 'started' END) AS status,
  round(1000 * coalesce(e.duration, s.duration), 3) AS duration_ms,
  s.input,
  coalesce(e.output, s.output) AS output,
  coalesce(e.error, s.error) AS error
FROM audit_events s
LEFT JOIN audit_events e ON e.seq = (
  SELECT max(o.seq) FROM audit_events o
  WHERE o.run = s.run AND o.call = s.call AND o.seq > s.seq AND o.type IN ('tool.end', 'tool.error', 'tool.denied'))
WHERE s.type IN ('tool.start', 'tool.denied') AND s.seq = (
  SELECT min(o.seq) FROM audit_events o
  WHERE o.run = s.run AND o.call = s.call AND o.type IN ('tool.start', 'tool.denied'));

-- Everything that was refused: tool calls, log-ins, requests.
CREATE VIEW denials AS
SELECT seq, time, type, user, role, address, run, agent, call, tool, action, method, path, code, rule, reasons, error
FROM audit_events
WHERE type IN ('tool.denied', 'login.failed')
   OR (type = 'request' AND code IN (401, 403))
   OR (type NOT LIKE 'tool.%' AND decision = 'deny');

-- +goose Down
DROP VIEW denials;
DROP VIEW tool_calls;
DROP TABLE audit_runs;
DROP TABLE audit_events;
