-- Runs that are over can be moved to archives: files beside the database, each with a record of the
-- type archive. The indexes find the ends of runs by age, the turns of a run, and the archives.

-- +goose Up
CREATE INDEX audit_events_over ON audit_events (time) WHERE type = 'run.end';
CREATE INDEX audit_events_archive ON audit_events (seq) WHERE type = 'archive';
CREATE INDEX audit_runs_run ON audit_runs (run);

-- +goose Down
DROP INDEX audit_runs_run;
DROP INDEX audit_events_archive;
DROP INDEX audit_events_over;
