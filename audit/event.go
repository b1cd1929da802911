package audit

import (
	"encoding/json"
	"time"
)

// Types of events. They are stable: queries and alerts are written against them.
const (
	Request          = "request"           // an API request was answered, or refused
	Flood            = "flood"             // many requests of one sender in a minute, unknown or above their limit, counted
	FloodLogin       = "flood.login"       // many failed logins of one address in a minute, counted
	FloodInjection   = "flood.injection"   // many injections of one unknown sender in a minute, counted
	Login            = "login"             // a session was opened
	LoginFailed      = "login.failed"      // credentials were refused
	Logout           = "logout"            // a session was ended, by its owner, an admin or the identity provider
	Lockout          = "lockout"           // after too many failures a user or an address is not listened to for a while
	TokenNewAddress  = "token.new_address" // a token was used from an address that it was not used from before
	PermissionDenied = "permission.denied" // somebody known asked for what their role does not permit
	AccountCreated   = "account.created"   // somebody of a directory or identity provider was let in for the first time
	Admin            = "admin"             // an administrative change: users, tokens, sessions, lockouts, policies
	ThreadDeleted    = "thread.deleted"    // somebody removes a thread
	ThreadUpdated    = "thread.updated"    // somebody changes the state of a thread between runs
	ThreadForked     = "thread.forked"     // a run is to begin at an earlier checkpoint of its thread
	ThreadPruned     = "thread.pruned"     // somebody removes what the state of a thread was earlier
	RunQueued        = "run.queued"        // a run waits for its thread, or for its time
	RunRolledBack    = "run.rolled_back"   // a run is taken back: its thread stands where it stood before
	RunCompacted     = "run.compacted"     // older messages of a conversation were summarised for the model, or left out
	AnswerChecked    = "answer.checked"    // something is wrong with an agent's answer, or a rule applied to it
	RunDeleted       = "run.deleted"       // somebody removes a run from its thread's list
	Retention        = "retention"         // the service removes what is older than the settings want
	Archive          = "archive"           // the records of runs that are over leave the log for a file
	Cron             = "cron"              // a run was due by a schedule: it was started, or why not
	RunStart         = "run.start"         // a run was started
	RunEnd           = "run.end"           // a run reached its final status
	ToolWait         = "tool.wait"         // a call waits for leave that the policy asks for
	ToolStart        = "tool.start"        // a tool is about to be called: the intent and the decision
	ToolEnd          = "tool.end"          // a tool returned
	ToolError        = "tool.error"        // a tool failed, timed out or was cancelled
	ToolDenied       = "tool.denied"       // a call was refused; it is the call's only event, or its last
	ToolEgress       = "tool.egress"       // a program that a tool runs connected to a server, or was kept from it
	ApprovalDecision = "approval.decision" // somebody decided on a call that waits for approval, or time did
	ApprovalRefused  = "approval.refused"  // a decision on such a call did not count, or leave was asked for in its name
	Injection        = "injection"         // the scanner found something in words on their way to a model
)

// RateLimited is the reason of a request that was refused, before anything was done, because its user
// makes too many. Such requests are counted once they are many.
const RateLimited = "rate_limited"

// Event is one row of audit_events; sqlite/migrations/00001_audit.sql tells what each column holds. A
// zero field is stored as NULL. The caller fills in what it knows; Seq, Node and Hash belong to the
// Log.
type Event struct {
	Seq         int64           `json:"seq,omitempty"`  // order of recording, given by the store
	Time        time.Time       `json:"time"`           // when it happened; zero: now. Stored in UTC, to the millisecond
	Node        string          `json:"node,omitempty"` // machine that recorded it
	Type        string          `json:"type"`           // one of the constants; required
	Run         string          `json:"run,omitempty"`  // required for tool.*
	Thread      string          `json:"thread,omitempty"`
	Agent       string          `json:"agent,omitempty"`
	User        string          `json:"user,omitempty"`
	Role        string          `json:"role,omitempty"`
	OnBehalfOf  string          `json:"on_behalf_of,omitempty"`
	Address     string          `json:"address,omitempty"`
	TokenID     string          `json:"token_id,omitempty"`   // never the token
	RequestID   string          `json:"request_id,omitempty"` // of the request that it happened in
	Call        string          `json:"call,omitempty"`       // required for tool.*
	Tool        string          `json:"tool,omitempty"`
	Action      string          `json:"action,omitempty"`
	Input       string          `json:"input,omitempty"`
	Output      string          `json:"output,omitempty"`
	Duration    float64         `json:"duration,omitempty"` // seconds, kept to the microsecond
	Error       string          `json:"error,omitempty"`
	Traceback   string          `json:"traceback,omitempty"`
	Decision    string          `json:"decision,omitempty"`
	Rule        string          `json:"rule,omitempty"`
	Reasons     []string        `json:"reasons,omitempty"`
	PolicyHash  string          `json:"policy_hash,omitempty"`
	PolicyInput json.RawMessage `json:"policy_input,omitempty"` // what else the decision depended on: JSON; stored in RFC 8785 form
	Digest      string          `json:"digest,omitempty"`
	Findings    json.RawMessage `json:"findings,omitempty"` // any JSON value; stored in RFC 8785 form
	Labels      []string        `json:"labels,omitempty"`
	Status      string          `json:"status,omitempty"`
	Method      string          `json:"method,omitempty"`
	Path        string          `json:"path,omitempty"`
	Code        int             `json:"code,omitempty"`
	Hash        string          `json:"hash,omitempty"` // SHA-256 of CanonicalRecord, hexadecimal
}

// RunRecord is one row of audit_runs: what a model used for one turn of a run.
type RunRecord struct {
	Seq              int64     `json:"seq,omitempty"`
	Time             time.Time `json:"time"` // end of the turn; zero: now
	Node             string    `json:"node,omitempty"`
	Run              string    `json:"run"` // required
	Thread           string    `json:"thread,omitempty"`
	Agent            string    `json:"agent,omitempty"`
	Model            string    `json:"model,omitempty"`
	User             string    `json:"user,omitempty"`
	PromptTokens     int64     `json:"prompt_tokens"`
	CompletionTokens int64     `json:"completion_tokens"`
	TotalTokens      int64     `json:"total_tokens"`
	Estimated        bool      `json:"estimated"` // the provider gave no counts
	Duration         float64   `json:"duration,omitempty"`
	Hash             string    `json:"hash,omitempty"`
}
