-- Which log this is. The databases beside it note the id and the last seq they have seen, so that a
-- log that was replaced or cut is noticed.

-- +goose Up
CREATE TABLE audit_log (
  id      TEXT NOT NULL, -- made with the log and kept for life, in backups too
  created TEXT NOT NULL  -- when
);
INSERT INTO audit_log (id, created) VALUES (lower(hex(randomblob(16))), strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));

-- +goose Down
DROP TABLE audit_log;
