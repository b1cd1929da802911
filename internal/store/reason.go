package store

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// reasons are the words for what SQLite reports (https://www.sqlite.org/rescode.html).
var reasons = map[int]string{
	sqlite3.SQLITE_FULL: "full", sqlite3.SQLITE_READONLY: "read_only", sqlite3.SQLITE_PERM: "permission",
	sqlite3.SQLITE_IOERR: "io_error", sqlite3.SQLITE_CORRUPT: "damaged", sqlite3.SQLITE_NOTADB: "damaged",
	sqlite3.SQLITE_BUSY: "locked", sqlite3.SQLITE_LOCKED: "locked",
}

// reason is a stable word for why the database cannot be written: replaced, full, read_only,
// permission, io_error, damaged, locked, or unavailable for anything else.
func reason(err error) string {
	if errors.Is(err, errReplaced) {
		return "replaced"
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok && reasons[e.Code()&0xff] != "" {
		return reasons[e.Code()&0xff]
	}
	return "unavailable"
}
