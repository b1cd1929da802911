-- +goose Up

-- What agents of other services were asked to do. What is in them goes with the thread.
CREATE TABLE remote_tasks (
    id      TEXT PRIMARY KEY,
    owner   TEXT NOT NULL,
    thread  TEXT NOT NULL,
    open    INTEGER NOT NULL, -- 1: it is not over
    unread  INTEGER NOT NULL, -- 1: the thread's agents were not told of the last change
    created INTEGER NOT NULL,
    version INTEGER NOT NULL,
    data    BLOB NOT NULL
);
CREATE INDEX remote_tasks_owner ON remote_tasks (owner, created);
CREATE INDEX remote_tasks_open ON remote_tasks (owner) WHERE open = 1;
CREATE INDEX remote_tasks_unread ON remote_tasks (thread) WHERE unread = 1;
CREATE INDEX remote_tasks_thread ON remote_tasks (thread);

-- +goose StatementBegin
CREATE TRIGGER remote_tasks_removed AFTER DELETE ON threads BEGIN
    DELETE FROM remote_tasks WHERE thread = old.id;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER remote_tasks_removed;
DROP TABLE remote_tasks;
