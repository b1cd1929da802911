-- From here on data, of events, runs and messages, is JSON as TEXT when it is short and otherwise a
-- BLOB: the same JSON compressed with zstd and a dictionary. Rows of before stay as they are.

-- +goose Up

-- What is swept, the oldest first.
CREATE INDEX threads_age ON threads (ephemeral, updated);

-- Threads of which rows may be left: to be removed, and found by nobody.
CREATE INDEX threads_deleted ON threads (id) WHERE status = 'deleted';

-- +goose Down
DROP INDEX threads_deleted;
DROP INDEX threads_age;
