-- +goose Up

-- Calls that wait for people, or did. data is the approval as JSON, packed like other documents; the
-- columns are what is searched for, and the state is right where data says another. Times are
-- milliseconds since 1970.
CREATE TABLE approvals (
    id      TEXT PRIMARY KEY,  -- of the call
    run     TEXT NOT NULL,
    owner   TEXT NOT NULL,     -- of the run
    state   TEXT NOT NULL,
    expires INTEGER NOT NULL,
    version INTEGER NOT NULL,
    data    ANY NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_run ON approvals (run, id);
CREATE INDEX approvals_owner ON approvals (owner, id);
CREATE INDEX approvals_open ON approvals (state, expires) WHERE state IN ('pending', 'approved', 'edited', 'rejected', 'expired');

-- +goose Down
DROP TABLE approvals;
