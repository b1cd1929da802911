package store

// Waiting is how many operations wait for the writer.
func Waiting(d *DB) int { return len(d.urgent) }
