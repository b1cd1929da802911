-- +goose Up

-- The rows of messages are a tree. data is the message, or null for a row that only changes something.
ALTER TABLE messages ADD COLUMN parent  INTEGER;                    -- seq that it follows, -1: none; NULL: the one before
ALTER TABLE messages ADD COLUMN run     TEXT    NOT NULL DEFAULT ''; -- that wrote it
ALTER TABLE messages ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN source  TEXT    NOT NULL DEFAULT ''; -- input, update; empty: a step of the run
ALTER TABLE messages ADD COLUMN change  TEXT;                       -- JSON of what it does beside adding the message
ALTER TABLE messages ADD COLUMN gone    INTEGER NOT NULL DEFAULT 0; -- 1: its run was taken back

ALTER TABLE threads ADD COLUMN head  INTEGER;                    -- seq at which the thread stands, -1: before the first; NULL: the last row of all
ALTER TABLE threads ADD COLUMN floor INTEGER NOT NULL DEFAULT 0; -- what is before this seq is not looked back at
ALTER TABLE threads ADD COLUMN ttl   INTEGER NOT NULL DEFAULT 0; -- milliseconds after which it is removed when nothing happens; 0: never
ALTER TABLE threads ADD COLUMN vals  TEXT;                       -- JSON of the state's values beside messages; NULL: none
CREATE INDEX threads_expiry ON threads (updated + ttl) WHERE ttl > 0;

ALTER TABLE runs ADD COLUMN due     INTEGER NOT NULL DEFAULT 0; -- when a pending run may start
ALTER TABLE runs ADD COLUMN hidden  INTEGER NOT NULL DEFAULT 0; -- 1: taken back or removed, found by nobody
ALTER TABLE runs ADD COLUMN about   TEXT;                       -- JSON of what it is listed with beside the columns
ALTER TABLE runs ADD COLUMN failure TEXT;                       -- JSON of why it did not succeed
ALTER TABLE runs ADD COLUMN request TEXT;                       -- key that the request for it came with
CREATE INDEX runs_queued ON runs (thread, due, id) WHERE status = 'pending';
CREATE INDEX runs_due ON runs (due, id) WHERE status = 'pending';
CREATE UNIQUE INDEX runs_request ON runs (request) WHERE request IS NOT NULL;

-- +goose Down
DROP INDEX runs_request;
DROP INDEX runs_due;
DROP INDEX runs_queued;
ALTER TABLE runs DROP COLUMN request;
ALTER TABLE runs DROP COLUMN failure;
ALTER TABLE runs DROP COLUMN about;
ALTER TABLE runs DROP COLUMN hidden;
ALTER TABLE runs DROP COLUMN due;
DROP INDEX threads_expiry;
ALTER TABLE threads DROP COLUMN vals;
ALTER TABLE threads DROP COLUMN ttl;
ALTER TABLE threads DROP COLUMN floor;
ALTER TABLE threads DROP COLUMN head;
ALTER TABLE messages DROP COLUMN gone;
ALTER TABLE messages DROP COLUMN change;
ALTER TABLE messages DROP COLUMN source;
ALTER TABLE messages DROP COLUMN created;
ALTER TABLE messages DROP COLUMN run;
ALTER TABLE messages DROP COLUMN parent;
