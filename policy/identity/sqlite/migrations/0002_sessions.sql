-- +goose Up

-- Accounts of people whom somebody else knows: source is '' for an account of this service. The
-- name of an account is bound to (source, issuer, subject) for ever; that of a removed one is
-- kept, so that nobody else comes into what belonged to it.
ALTER TABLE users ADD COLUMN source      TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN issuer      TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN subject     TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN valid_after TEXT; -- what was issued before is revoked
ALTER TABLE users ADD COLUMN last_login  TEXT;
ALTER TABLE users ADD COLUMN removed     TEXT;

CREATE INDEX users_nocase ON users (name COLLATE NOCASE);
CREATE UNIQUE INDEX users_link ON users (source, issuer, subject) WHERE source <> '';

-- A token's own role; NULL is the user's.
ALTER TABLE tokens ADD COLUMN role TEXT CHECK (role IN ('admin', 'user', 'readonly'));

CREATE INDEX tokens_created ON tokens (created) WHERE revoked IS NULL;

CREATE TABLE sessions (
    hash      BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the secret
    id        TEXT NOT NULL UNIQUE,
    user      TEXT NOT NULL REFERENCES users (name),
    kind      TEXT NOT NULL CHECK (kind IN ('web', 'api')),
    source    TEXT NOT NULL,
    token     TEXT REFERENCES tokens (id), -- that it was opened with
    role      TEXT NOT NULL,               -- as the source said when it was opened or renewed
    member_of TEXT NOT NULL,               -- groups, a JSON list
    issued    TEXT NOT NULL,               -- when the credential it was opened with was made
    created   TEXT NOT NULL,
    expires   TEXT NOT NULL,
    ended     TEXT,
    last_used TEXT,
    address   TEXT NOT NULL,
    agent     TEXT NOT NULL,
    -- The identity provider's side.
    issuer    TEXT NOT NULL,
    subject   TEXT NOT NULL,
    sid       TEXT NOT NULL,
    due       TEXT,  -- when to renew
    secrets   BLOB   -- refresh and ID token, AES-256-GCM
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_user ON sessions (user, created);
CREATE INDEX sessions_expires ON sessions (expires);
CREATE INDEX sessions_ended ON sessions (ended) WHERE ended IS NOT NULL;
CREATE INDEX sessions_token ON sessions (token) WHERE token IS NOT NULL;
CREATE INDEX sessions_upstream ON sessions (issuer, subject) WHERE issuer <> '';
CREATE INDEX sessions_sid ON sessions (issuer, sid) WHERE sid <> '';

-- +goose Down
DROP TABLE sessions;
DROP INDEX tokens_created;
DROP INDEX users_link;
DROP INDEX users_nocase;
ALTER TABLE tokens DROP COLUMN role;
ALTER TABLE users DROP COLUMN removed;
ALTER TABLE users DROP COLUMN last_login;
ALTER TABLE users DROP COLUMN valid_after;
ALTER TABLE users DROP COLUMN subject;
ALTER TABLE users DROP COLUMN issuer;
ALTER TABLE users DROP COLUMN source;
