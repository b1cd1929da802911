-- +goose Up

-- One row a conversation. Times are milliseconds since 1970.
CREATE TABLE threads (
    id        TEXT PRIMARY KEY,
    owner     TEXT NOT NULL,
    created   INTEGER NOT NULL,
    updated   INTEGER NOT NULL,
    status    TEXT NOT NULL,
    metadata  TEXT NOT NULL,
    messages  INTEGER NOT NULL,  -- how many rows of messages it has
    ephemeral INTEGER NOT NULL   -- 1: made for a single run, not listed
) WITHOUT ROWID;
CREATE INDEX threads_listed ON threads (owner, updated) WHERE ephemeral = 0;

CREATE TABLE messages (
    thread TEXT NOT NULL,
    seq    INTEGER NOT NULL,     -- from 0, without gaps
    data   TEXT NOT NULL,        -- JSON of one message
    PRIMARY KEY (thread, seq)
) WITHOUT ROWID;

-- One row a run; data is the run as JSON, the other columns are what is searched for.
CREATE TABLE runs (
    id      TEXT PRIMARY KEY,
    thread  TEXT NOT NULL,
    status  TEXT NOT NULL,
    version INTEGER NOT NULL,
    data    TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_thread ON runs (thread, id);
CREATE INDEX runs_unfinished ON runs (status) WHERE status IN ('pending', 'running', 'interrupted');

-- A run's event log in pieces: data is a JSON array of the events first … last.
CREATE TABLE events (
    run   TEXT NOT NULL,
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL,
    data  TEXT NOT NULL,
    PRIMARY KEY (run, first)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE events;
DROP TABLE runs;
DROP TABLE messages;
DROP TABLE threads;
