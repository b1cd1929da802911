-- +goose Up

-- Times are RFC 3339 in UTC with microseconds, so that text order is time order. An end or a
-- moment that there is not is NULL.

CREATE TABLE users (
    name     TEXT    NOT NULL PRIMARY KEY,
    role     TEXT    NOT NULL CHECK (role IN ('admin', 'user', 'readonly')),
    created  TEXT    NOT NULL,
    expires  TEXT,
    disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE INDEX users_role ON users (role);

CREATE TABLE tokens (
    hash      BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the token
    id        TEXT NOT NULL UNIQUE,
    user      TEXT NOT NULL REFERENCES users (name),
    name      TEXT NOT NULL,
    created   TEXT NOT NULL,
    expires   TEXT,
    revoked   TEXT,
    last_used TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_user ON tokens (user, created);

-- One row: how many changes were made. Changes are compare-and-swap on it, and caches of
-- verified tokens belong to one value of it.
CREATE TABLE revision (
    one      INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    revision INTEGER NOT NULL
) STRICT;

INSERT INTO revision (one, revision) VALUES (1, 0);

-- +goose Down
DROP TABLE revision;
DROP TABLE tokens;
DROP TABLE users;
