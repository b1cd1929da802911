-- +goose Up

-- How much is said in a thread, in bytes before they are packed: reading its state takes memory for all of it.
ALTER TABLE messages ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
UPDATE threads SET size = coalesce((SELECT sum(octet_length(data)) FROM messages WHERE thread = threads.id), 0);

-- +goose Down
ALTER TABLE threads DROP COLUMN size;
ALTER TABLE messages DROP COLUMN size;
