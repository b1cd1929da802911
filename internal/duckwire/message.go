package duckwire

import (
	"regexp"
	"time"
)

// TableName is the form of the name of a table.
var TableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// PathMessages is the endpoint that adds log messages to a table:
//
//	POST /messages?table=T&keep_ms=N  [Added]; its body is a [Message] as JSON on each line
//
// All of them are added, or none. The table is made where it is not there. Messages that came longer
// ago than keep_ms are removed; 0 keeps them.
const PathMessages = "/messages"

// Message is a log message, a row of such a table. Its fields are the columns.
type Message struct {
	Received  time.Time  `json:"received"`
	Sent      *time.Time `json:"sent"` // as the message says; nil: it does not say, or nobody understands it
	Sender    string     `json:"sender"`
	Transport string     `json:"transport"`
	Format    string     `json:"format"`
	Facility  string     `json:"facility"`
	Severity  *int       `json:"severity"` // 0 to 7
	Level     string     `json:"level"`    // the name of the severity
	Host      string     `json:"host"`
	App       string     `json:"app"`
	Process   string     `json:"process"`
	ID        string     `json:"id"`
	Data      string     `json:"data"` // structured data as JSON
	Text      string     `json:"text"`
	Truncated bool       `json:"truncated"` // it was longer than what is kept
	Injection string     `json:"injection"` // the category of what looks like an instruction to an agent
}

// Added says what became of messages.
type Added struct {
	Rows    int64 `json:"rows"`
	Removed int64 `json:"removed"`
}
