package settings

import "time"

// Version is the version of the service; the build sets it with the linker's -X option.
var Version = "0.1.0-dev"

// The authentication modes that auth.mode knows.
const (
	ModeNone  = "none"
	ModeToken = "token"
	ModeLDAP  = "ldap"
	ModeOIDC  = "oidc"
)

// The model providers that model.provider knows.
const (
	ProviderDemo      = "demo"
	ProviderOpenAI    = "openai"
	ProviderAnthropic = "anthropic"
)

// Settings are all settings of the service, checked.
type Settings struct {
	Auth       Auth
	Runtime    Runtime
	Output     Output
	Classifier Classifier
	Model      Model
	Budget     Budget
	Limits     Limits
	CORS       CORS
	MCP        MCP
	LDAP       LDAP
	Bus        Bus
	Database   Database
	Memory     Memory
	Retention  Retention
	Approvals  Approvals
	Webhooks   Webhooks
	Sandbox    Sandbox
	Fetch      Fetch
	Device     Device
	Lists      Lists
}

// Approvals says how calls wait for people.
type Approvals struct {
	// TTL is how long a call waits, and how long an approval may be used. Default: 15m.
	TTL time.Duration
	// Auto lets runs of admins go on without a person where only rules of the program ask for one. For
	// tests only. Default: false.
	Auto bool
	// WebhookURL is told of calls that wait and of decisions; empty: nobody is.
	WebhookURL string
	// WebhookSecret signs what is sent there.
	WebhookSecret Reference
	// WebhookPrivate lets the webhook go to loopback and private addresses, and over plain HTTP.
	WebhookPrivate bool
}

// Auth says how callers prove who they are.
type Auth struct {
	// Mode lists the ways in, asked in this order. Default: none.
	Mode []string
	// SessionTTLHours is how long a web session lasts, in hours. Default: 24.
	SessionTTLHours int
	// PublicURL is the address that browsers know this service by, scheme://host[:port]. It
	// is part of what identity providers send users back to. Default: taken from the request.
	PublicURL string
}

// Has reports whether mode is one of the ways in.
func (a Auth) Has(mode string) bool {
	for _, m := range a.Mode {
		if m == mode {
			return true
		}
	}
	return false
}

// Runtime bounds what a run may do.
type Runtime struct {
	// Timeout is the hard limit of one tool call. Default: 60s.
	Timeout time.Duration
	// ProjectRoot is the absolute folder that file tools may work in; see [ProjectRoot].
	// Default: the folder the service was started in.
	ProjectRoot string
	// MaxSteps is how many model turns a run may take. Default: 25.
	MaxSteps int
	// MaxTokens is how many tokens a run may use. Default: 200000.
	MaxTokens int
	// MaxDepth is how often a task may be handed down from agent to agent. Default: 3.
	MaxDepth int
	// RunTimeout is how long a run may take. Default: 10m.
	RunTimeout time.Duration
	// ScanModel judges texts by the statistical detector, too. Default: false.
	ScanModel bool
}

// Model says which language model answers.
type Model struct {
	// Provider is demo (embedded, no network), openai (any server of that protocol) or anthropic.
	// Default: demo.
	Provider string
	// BaseURL is the address of the server's API; see [Model.Address]. Default: the provider's own.
	BaseURL string
	// Name is the model's name as the server knows it; all but demo need one.
	Name string
	// APIKeyEnv is the name of the environment variable that holds the API key; empty
	// when the server wants none.
	APIKeyEnv string
	// Timeout is how long one model turn may take. Default: 120s.
	Timeout time.Duration
	// ContextTokens is the size of the model's window. Default: 100000.
	ContextTokens int
	// MaxOutputTokens is how many tokens one answer may have. Default: 0, which leaves it to the server.
	MaxOutputTokens int
	// Thinking is off, adaptive or a number of tokens; see [Model.ThinkingTokens]. Default: off.
	Thinking string
	// MaxRetries is how often a failed request is repeated. Default: 2.
	MaxRetries int
	// Fallback are the names of models that are asked, in this order, when it is not available.
	Fallback []string
}

// Limits bound what one caller can ask of the service.
type Limits struct {
	// BodyBytes is the largest request body. Default: 4 MiB.
	BodyBytes int64
	// DecodeMemory is what all request bodies together may take while they are decoded, in bytes;
	// 0 is 64 times BodyBytes. Read it with [Limits.Decoding].
	DecodeMemory int64
	// RunsPerMinute is how many runs a user may start in a minute. Default: 600.
	RunsPerMinute int
	// RequestsPerMinute is how many requests a user may make in a minute for long. 0 is no limit.
	// Default: 6000.
	RequestsPerMinute int
	// RequestsBurst is how many requests a user may make at once. Default: 600.
	RequestsBurst int
	// ParallelRuns is how many runs of a user may be going at once. Default: 100.
	ParallelRuns int
	// StreamsPerUser is how many event streams, WebSockets and requests that wait for runs a user may have
	// open at once, at one process. Default: 1000.
	StreamsPerUser int
	// DiskFree is the space below which the service warns, in bytes. 0 is 1 GiB, or a twentieth of a
	// smaller disk.
	DiskFree int64
}

// Decoding is what all request bodies together may take while they are decoded, in bytes.
func (l Limits) Decoding() int64 {
	if l.DecodeMemory == 0 {
		return 64 * l.BodyBytes
	}
	return l.DecodeMemory
}

// Database says where the analytical database's helper is, and what it may use.
type Database struct {
	// Helper is the absolute path of the program svc-duck. Default: beside the service's own.
	Helper string
	// SnapshotMaxAge is how old the data may be that a query sees. Default: 30s.
	SnapshotMaxAge time.Duration
	// QueryTimeout is how long a query may take. Default: 10s.
	QueryTimeout time.Duration
	// Memory is what the writer, and each query, may take, in bytes. Default: 512 MiB.
	Memory int64
	// Threads is how many threads the writer, and each query, may use. Default: 2.
	Threads int
}

// Retention says how long is kept what grows. Records of runs and tool calls are never removed: they
// are moved to archives. What is 0 is kept for ever.
type Retention struct {
	// Threads are removed when nothing has happened in them for so long.
	Threads time.Duration
	// Ephemeral is the same for threads that were made for a single run. Default: 24h.
	Ephemeral time.Duration
	// Events of finished runs are removed after so long; the messages stay.
	Events time.Duration
	// Requests is how long the audit log keeps requests and floods.
	Requests time.Duration
	// RequestsSize is what audit.db may take before the oldest requests and floods are removed, in
	// bytes.
	RequestsSize int64
	// ToolCalls is how long the audit log keeps the records of runs that are over, and of their tool
	// calls, before they are moved to an archive.
	ToolCalls time.Duration
	// ToolCallsSize is what audit.db may take before the oldest of them are, in bytes.
	ToolCallsSize int64
	// Size is what state.db may take before the oldest threads are removed, in bytes.
	Size int64
}

// CORS says which web pages of other origins may call the API.
type CORS struct {
	// Origins are scheme://host[:port], or * for all. Default: none.
	Origins []string
}
