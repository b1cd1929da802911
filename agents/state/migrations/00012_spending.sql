-- +goose Up

-- What models were used for on each day (UTC): by each owner, and, without an owner, by all together.
CREATE TABLE spending (
    day    TEXT NOT NULL,
    owner  TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    calls  INTEGER NOT NULL,
    PRIMARY KEY (day, owner)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE spending;
