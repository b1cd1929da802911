-- +goose Up

-- The audit log that the database belongs to, and how far it was seen: a start that finds another
-- log, or a shorter one, says so.
CREATE TABLE audit_seen (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    log TEXT    NOT NULL, -- id of the log
    seq INTEGER NOT NULL  -- the highest seq in it that was seen
) STRICT;

-- +goose Down
DROP TABLE audit_seen;
