-- +goose Up

-- What agents know from earlier conversations. The memories of one agent of a user are a scope. A memory's seq
-- has its scope in the upper 32 bits and its number within it in the lower ones, so that looking for words in a
-- range of them sees nobody else's. Times are milliseconds since 1970.
CREATE TABLE memory_scopes (
    id      INTEGER PRIMARY KEY,
    owner   TEXT NOT NULL,
    agent   TEXT NOT NULL,               -- empty: what all agents of the owner know
    next    INTEGER NOT NULL DEFAULT 1,  -- number of its next memory
    entries INTEGER NOT NULL DEFAULT 0,
    words   INTEGER NOT NULL DEFAULT 0,  -- of all of them
    bytes   INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, agent)
) STRICT;

CREATE TABLE memories (
    seq      INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    owner    TEXT NOT NULL,
    agent    TEXT NOT NULL,
    digest   BLOB NOT NULL,     -- of what it says; the same for memories that say the same
    category TEXT NOT NULL,
    own      INTEGER NOT NULL,  -- 1: its owner's words
    labels   TEXT NOT NULL,     -- a JSON list
    created  INTEGER NOT NULL,
    updated  INTEGER NOT NULL,
    used     INTEGER NOT NULL,
    times    INTEGER NOT NULL,
    run      TEXT NOT NULL,
    thread   TEXT NOT NULL,
    words    INTEGER NOT NULL,
    text     TEXT NOT NULL,
    UNIQUE (owner, agent, digest)
) STRICT;
CREATE INDEX memories_owner ON memories (owner, id);
CREATE INDEX memories_spared ON memories (owner, own, used);
CREATE INDEX memories_used ON memories (used);

-- Removed words are taken out of the index at once, not when it is tidied next.
CREATE VIRTUAL TABLE memory_words USING fts5(text, content = 'memories', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);

-- The vectors of memories, for finding what means the same in other words: a signed byte for each number.
CREATE TABLE memory_vectors (
    seq    INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    model  TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER memories_added AFTER INSERT ON memories BEGIN
    INSERT INTO memory_words (rowid, text) VALUES (new.seq, new.text);
    UPDATE memory_scopes SET next = next + 1, entries = entries + 1, words = words + new.words, bytes = bytes + octet_length(new.text) WHERE id = new.seq >> 32;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER memories_removed AFTER DELETE ON memories BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.seq, old.text);
    UPDATE memory_scopes SET entries = entries - 1, words = words - old.words, bytes = bytes - octet_length(old.text) WHERE id = old.seq >> 32;
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE memory_words;
DROP TABLE memory_vectors;
DROP TABLE memories;
DROP TABLE memory_scopes;
