-- +goose Up

-- What runs are listed by. Times are milliseconds since 1970.
ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN assistant TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN updated INTEGER NOT NULL DEFAULT 0;

UPDATE runs SET
    owner     = coalesce(nullif(json_extract(data, '$.principal.on_behalf_of'), ''), json_extract(data, '$.principal.user'), ''),
    assistant = coalesce(json_extract(data, '$.assistant'), ''),
    created   = coalesce(round(1000 * unixepoch(json_extract(data, '$.created'), 'subsec')), 0),
    updated   = coalesce(round(1000 * unixepoch(json_extract(data, '$.updated'), 'subsec')), 0)
WHERE json_valid(data);

DROP INDEX runs_unfinished;
CREATE INDEX runs_unfinished ON runs (status, id) WHERE status IN ('pending', 'running', 'interrupted');
CREATE INDEX runs_owner ON runs (owner, status, id);

-- +goose Down
DROP INDEX runs_owner;
DROP INDEX runs_unfinished;
CREATE INDEX runs_unfinished ON runs (status) WHERE status IN ('pending', 'running', 'interrupted');
ALTER TABLE runs DROP COLUMN updated;
ALTER TABLE runs DROP COLUMN created;
ALTER TABLE runs DROP COLUMN assistant;
ALTER TABLE runs DROP COLUMN owner;
