package main

import "time"

// report is everything that was measured. Durations are nanoseconds in JSON, sizes bytes.
type report struct {
	When        time.Time
	Plan        string
	Rounds      int
	Machine     string
	Stages      []stageFigures   `json:",omitempty"`
	Portkey     *portkeyFigures  `json:",omitempty"`
	Auth        []authFigures    `json:",omitempty"`
	Logins      []loginFigures   `json:",omitempty"`
	Posts       []postFigures    `json:",omitempty"`
	Runs        []runFigures     `json:",omitempty"`
	AgentServer []taskFigures    `json:",omitempty"`
	Recorded    map[string]int   `json:",omitempty"` // audit events by type after the runs
	Sync        []syncFigures    `json:",omitempty"` // of the disk before and after the runs
	Audit       *auditFigures    `json:",omitempty"`
	Database    *databaseFigures `json:",omitempty"`
	Sandbox     *sandboxFigures  `json:",omitempty"`
	Start       *startFigures    `json:",omitempty"`
	Contents    []contentFigures `json:",omitempty"`
	Streams     []streamFigures  `json:",omitempty"`
	Kept        *keptFigures     `json:",omitempty"`
	Aims        []aim
}

// stageFigures compare one kind of traffic through (a) and (b).
type stageFigures struct {
	Shape   string
	Clients int
	Events  int // of a response; 0: it is no event stream
	comparison
}

// portkeyFigures compare bare Caddy, all stages and Portkey's gateway, in this order.
type portkeyFigures struct {
	Rows         []portkeyRow
	Idle, Loaded [3]memory // before, and after all of the load
}

// portkeyRow is one kind of traffic. Ratios and what is added are in relation to bare Caddy in the same
// round.
type portkeyRow struct {
	Shape                string
	Clients              int
	Samples              [3]sample
	Ratio                [3]float64
	AddedP50, AddedFirst [3]time.Duration
}

// authFigures compare requests with one kind of credential through (a) and (b).
type authFigures struct {
	Credential string
	Clients    int
	comparison
}

// postFigures are of requests while large ones are scanned.
type postFigures struct {
	Content     string
	Bytes       int
	Quiet, Busy sample
	Took        time.Duration // until all were answered
	Passed      int
	Refused     int // with a time to try again
}

// loginFigures are requests with a token while nobody logs in, while many do somewhere else, and
// while they do here.
type loginFigures struct {
	First                  bool // the people had no accounts yet
	Quiet, Elsewhere, Busy sample
	Took, TookElsewhere    time.Duration // until all were in
}

// comparison is of the same load through (a) bare Caddy and (b) stages of ours in front of it.
type comparison struct {
	Bare, Stages sample
	Ratio        float64       // throughput of (b) / (a)
	AddedP50     time.Duration // (b) - (a)
}

// runFigures are of complete agent runs.
type runFigures struct {
	Name    string
	Clients int
	Child   bool // a run starts a child process
	sample
}

// taskFigures compare the reference server of the agent server protocol (a) with the service (b).
type taskFigures struct {
	Task    string
	Clients int
	Aim     float64 // least ratio; 0: none
	comparison
}

// auditFigures are events a second, and the log's in relation to bare SQLite's.
type auditFigures struct{ Log, Bare, Ratio float64 }

// sandboxFigures are from the start to the exit of true: in turns with bubblewrap, and one after the
// other.
type sandboxFigures struct {
	Mode           string
	P50, P99, Row  time.Duration
	Peer50, Peer99 time.Duration
	Ratio          float64
	AtOnce         time.Duration // until all of a crowd had ended
	Failed         int           // of these
	Bomb           time.Duration // that a fork bomb lived on after its time
}

// databaseFigures are of the analytical database.
type databaseFigures struct {
	Rows        int
	Import      time.Duration
	Snapshot    time.Duration
	SlowestRead time.Duration // of the queries while a snapshot was made
	Query       time.Duration // a small aggregate, with the start of its process
}

// contentFigures are of scanning one kind of content.
type contentFigures struct {
	Kind   string
	Bytes  int
	Binary bool    // it is no text
	Rate   float64 // bytes a second
	Allocs float64 // per KiB
}

// startFigures are of web start.
type startFigures struct {
	Fresh   time.Duration // with a new data folder
	Again   time.Duration
	Slowest time.Duration
	Idle    memory
}

// streamFigures are the memory of one waiting stream.
type streamFigures struct {
	Name      string
	Streams   int
	Loaded    memory // as it was when the streams had come
	Collected memory // after a garbage collection
}

// aim is a figure that is wanted.
type aim struct {
	Name  string
	Want  string
	Got   string
	Met   bool
	Rough bool `json:",omitempty"` // judged on a single round
}

func newReport(p plan) *report {
	return &report{When: time.Now().UTC(), Plan: p.name, Rounds: p.rounds, Machine: machine()}
}
