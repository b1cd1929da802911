-- +goose Up

-- Lists by age, of all users and of one. What was made for a single run is in none of them but the last.
DROP INDEX threads_age;
CREATE INDEX threads_updated ON threads (updated) WHERE ephemeral = 0;
CREATE INDEX threads_created ON threads (created) WHERE ephemeral = 0;
CREATE INDEX threads_made ON threads (owner, created) WHERE ephemeral = 0;
CREATE INDEX threads_ended ON threads (updated) WHERE ephemeral = 1;

-- How many threads a user has that are listed: to count them takes longer than to list a page.
CREATE TABLE thread_counts (
    owner TEXT PRIMARY KEY,
    n     INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO thread_counts SELECT owner, count(*) FROM threads WHERE ephemeral = 0 AND status <> 'deleted' GROUP BY owner;

-- +goose StatementBegin
CREATE TRIGGER threads_counted AFTER INSERT ON threads WHEN new.ephemeral = 0 AND new.status <> 'deleted' BEGIN
    INSERT INTO thread_counts VALUES (new.owner, 1) ON CONFLICT (owner) DO UPDATE SET n = n + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER threads_shown AFTER UPDATE OF status, ephemeral ON threads
    WHEN (old.ephemeral = 0 AND old.status <> 'deleted') <> (new.ephemeral = 0 AND new.status <> 'deleted') BEGIN
    INSERT INTO thread_counts VALUES (new.owner, iif(new.ephemeral = 0 AND new.status <> 'deleted', 1, -1))
        ON CONFLICT (owner) DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER threads_removed AFTER DELETE ON threads WHEN old.ephemeral = 0 AND old.status <> 'deleted' BEGIN
    UPDATE thread_counts SET n = n - 1 WHERE owner = old.owner;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER threads_removed;
DROP TRIGGER threads_shown;
DROP TRIGGER threads_counted;
DROP TABLE thread_counts;
DROP INDEX threads_ended;
DROP INDEX threads_made;
DROP INDEX threads_created;
DROP INDEX threads_updated;
CREATE INDEX threads_age ON threads (ephemeral, updated);
