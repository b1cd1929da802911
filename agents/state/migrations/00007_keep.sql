-- +goose Up

-- The long-term store: JSON objects by namespace and key. data is packed like other documents. Times are
-- milliseconds since 1970.
CREATE TABLE items (
    owner   TEXT NOT NULL,
    path    TEXT NOT NULL,     -- the labels of the namespace with dots between them
    key     TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    ttl     INTEGER NOT NULL,  -- milliseconds; 0: for ever
    expires INTEGER NOT NULL,  -- 0: never
    size    INTEGER NOT NULL,  -- bytes of the value before it was packed
    data    ANY NOT NULL,
    UNIQUE (owner, path, key)
) STRICT;
CREATE INDEX items_recent ON items (owner, updated DESC, path, key);
CREATE INDEX items_named ON items (path, key);
CREATE INDEX items_expire ON items (expires) WHERE expires > 0;

-- What each user keeps, so that it can be bounded without counting.
CREATE TABLE item_totals (
    owner TEXT PRIMARY KEY,
    items INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER items_added AFTER INSERT ON items BEGIN
    INSERT INTO item_totals VALUES (new.owner, 1, new.size)
        ON CONFLICT (owner) DO UPDATE SET items = items + 1, bytes = bytes + new.size;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER items_replaced AFTER UPDATE OF size ON items BEGIN
    UPDATE item_totals SET bytes = bytes + new.size - old.size WHERE owner = new.owner;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER items_removed AFTER DELETE ON items BEGIN
    UPDATE item_totals SET items = items - 1, bytes = bytes - old.size WHERE owner = old.owner;
END;
-- +goose StatementEnd

-- Assistants that users made over a graph. data is the assistant in its present version.
CREATE TABLE assistants (
    id       TEXT PRIMARY KEY,
    owner    TEXT NOT NULL,
    version  INTEGER NOT NULL,  -- the present one
    versions INTEGER NOT NULL,  -- the number of the newest
    data     ANY NOT NULL
) STRICT;
CREATE INDEX assistants_owner ON assistants (owner, id);

CREATE TABLE assistant_versions (
    assistant TEXT NOT NULL,
    version   INTEGER NOT NULL,
    data      ANY NOT NULL,
    PRIMARY KEY (assistant, version)
) STRICT;

-- Runs that are started again and again. The columns are what is searched for.
CREATE TABLE crons (
    id      TEXT PRIMARY KEY,
    owner   TEXT NOT NULL,
    next    INTEGER NOT NULL,  -- when it is due; 0: never
    version INTEGER NOT NULL,
    data    ANY NOT NULL
) STRICT;
CREATE INDEX crons_owner ON crons (owner, id);
CREATE INDEX crons_due ON crons (next) WHERE next > 0;

-- +goose Down
DROP TABLE crons;
DROP TABLE assistant_versions;
DROP TABLE assistants;
DROP TABLE items;
DROP TABLE item_totals;
