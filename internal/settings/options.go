package settings

import (
	"fmt"
	"strings"
	"time"
)

// Option describes a setting to people and to programs.
type Option struct {
	Key     string // section.key
	Default string // as text; empty when there is none
	Doc     string // one sentence of Markdown, with the unit
}

// Env is the environment variable that sets the option.
func (o Option) Env() string { return variableOf(o.Key) }

// autoApprove is the setting whose variable is not made of its key.
const autoApprove = "approvals.auto"

func variableOf(key string) string {
	if key == autoApprove {
		return "SVC_AUTO_APPROVE"
	}
	return "SVC_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// longest is the longest that something can be kept, ten years.
const longest = 10 * 365 * 24 * time.Hour

var options = []field[Settings]{
	list("auth.mode", "none", "how callers prove who they are: one or several of `none`, `token`, `ldap` and `oidc`, asked in this order; put `none` last. See [auth.md](auth.md)",
		func(s *Settings) *[]string { return &s.Auth.Mode }, checkModes),
	number("auth.session_ttl_hours", 24, 1, 24*365, "hours that a session lasts",
		func(s *Settings) *int { return &s.Auth.SessionTTLHours }),
	text("auth.public_url", "", "address that browsers know this service by, `scheme://host[:port]`; identity providers send users back there. Taken from the request when empty",
		func(s *Settings) *string { return &s.Auth.PublicURL }, checkPublicURL),
	duration("runtime.timeout", "60s", time.Millisecond, time.Hour, "hard limit of one tool call",
		func(s *Settings) *time.Duration { return &s.Runtime.Timeout }),
	text("runtime.project_root", "", "absolute path of the folder that file tools may read, not `/`. When empty, the folder the service was started in, or the data folder's `workspace` when that is `/` or in the data folder",
		func(s *Settings) *string { return &s.Runtime.ProjectRoot }, checkProjectRoot),
	number("runtime.max_steps", 25, 1, 1000, "model turns that a run may take",
		func(s *Settings) *int { return &s.Runtime.MaxSteps }),
	number("runtime.max_tokens", 200_000, 1, 1_000_000_000, "tokens that a run may use",
		func(s *Settings) *int { return &s.Runtime.MaxTokens }),
	duration("runtime.run_timeout", "10m", time.Second, 7*24*time.Hour, "how long a run may take",
		func(s *Settings) *time.Duration { return &s.Runtime.RunTimeout }),
	boolean("runtime.scan_model", false, "judges what users say, arguments of calls and results by the statistical detector, too. Its findings have the rule `model`. See [scanner.md](scanner.md#the-statistical-detector)",
		func(s *Settings) *bool { return &s.Runtime.ScanModel }),
	text("model.provider", ProviderDemo, "`demo` (embedded, no network) or `openai` (any server of that protocol). See [models.md](models.md)",
		func(s *Settings) *string { return &s.Model.Provider }, checkProvider),
	text("model.base_url", "https://api.openai.com/v1", "address of the model server's API: http or https, without user, query or fragment",
		func(s *Settings) *string { return &s.Model.BaseURL }, checkURL),
	text("model.name", "", "name of the model on its server; `openai` needs one",
		func(s *Settings) *string { return &s.Model.Name }, nil),
	variable("model.api_key_env", "environment variable that holds the API key; never the key itself",
		func(s *Settings) *string { return &s.Model.APIKeyEnv }),
	duration("model.timeout", "120s", time.Second, time.Hour, "how long one model turn may take",
		func(s *Settings) *time.Duration { return &s.Model.Timeout }),
	number("model.max_retries", 2, 0, 10, "how often a failed request to the model is repeated",
		func(s *Settings) *int { return &s.Model.MaxRetries }),
	size("limits.body_bytes", 4<<20, 1<<10, 1<<30, "largest request body, in bytes",
		func(s *Settings) *int64 { return &s.Limits.BodyBytes }),
	size("limits.decode_memory", 0, 0, 1<<40, "memory that all request bodies together may take while they are decoded, in bytes, a quarter of it for the requests of one user; at least 16 times `limits.body_bytes`. `0` is 64 times",
		func(s *Settings) *int64 { return &s.Limits.DecodeMemory }),
	number("limits.requests_per_minute", 6000, 0, 10_000_000, "requests that a user may make in a minute over a longer time, whichever credentials they use; `0` is no limit. See [auth.md](auth.md#lockout-and-limits)",
		func(s *Settings) *int { return &s.Limits.RequestsPerMinute }),
	number("limits.requests_burst", 600, 1, 100_000, "requests that a user may make at once",
		func(s *Settings) *int { return &s.Limits.RequestsBurst }),
	number("limits.runs_per_minute", 600, 1, 1_000_000, "runs that a user may start in a minute",
		func(s *Settings) *int { return &s.Limits.RunsPerMinute }),
	number("limits.parallel_runs", 100, 1, 100_000, "runs that a user may have at once",
		func(s *Settings) *int { return &s.Limits.ParallelRuns }),
	size("limits.disk_free", 0, 0, 1<<50, "space on the disk with the databases below which the service warns, in bytes. `0` is 1 GiB, or a twentieth of a smaller disk. See [growth.md](growth.md#the-disk)",
		func(s *Settings) *int64 { return &s.Limits.DiskFree }),
	list("cors.origins", "", "origins of the web pages that may call the API, `scheme://host[:port]` or `*`",
		func(s *Settings) *[]string { return &s.CORS.Origins }, checkOrigins),
	list("ldap.url", "", "servers of the directory, asked in turn: `ldap://host[:port]`, with StartTLS, or `ldaps://host[:port]`. See [auth.md](auth.md#ldap)",
		func(s *Settings) *[]string { return &s.LDAP.URL }, checkServers),
	boolean("ldap.insecure", false, "sends passwords in clear to `ldap://` servers, without StartTLS",
		func(s *Settings) *bool { return &s.LDAP.Insecure }),
	text("ldap.ca_file", "", "absolute path of a PEM file with the authorities of the servers' certificates; the system's when empty",
		func(s *Settings) *string { return &s.LDAP.CAFile }, checkFile),
	text("ldap.bind_dn", "", "DN of the account that searches the directory; anonymous when empty",
		func(s *Settings) *string { return &s.LDAP.BindDN }, nil),
	secret("ldap.bind_password", "where the password of that account is. `SVC_LDAP_BIND_PASSWORD` holds the password itself",
		func(s *Settings) *Reference { return &s.LDAP.BindPassword }),
	text("ldap.user_template", "", "DN of every user, with `%u` for the name, instead of a search",
		func(s *Settings) *string { return &s.LDAP.UserTemplate }, checkUserPattern),
	text("ldap.base_dn", "", "where users are searched for",
		func(s *Settings) *string { return &s.LDAP.BaseDN }, nil),
	text("ldap.filter", "(uid=%u)", "filter that finds a user, with `%u` for the name that was given",
		func(s *Settings) *string { return &s.LDAP.Filter }, checkUserPattern),
	text("ldap.name_attribute", "uid", "attribute with the user name",
		func(s *Settings) *string { return &s.LDAP.NameAttribute }, nil),
	text("ldap.id_attribute", "entryUUID", "attribute that never changes and identifies the user",
		func(s *Settings) *string { return &s.LDAP.IDAttribute }, nil),
	text("ldap.groups", GroupsMemberOf, "how groups are found: `memberof` (an attribute), `member` (a search) or `chain` (a search in which the server follows nested groups)",
		func(s *Settings) *string { return &s.LDAP.Groups }, checkGroups),
	text("ldap.group_base_dn", "", "where groups are searched for; `ldap.base_dn` when empty",
		func(s *Settings) *string { return &s.LDAP.GroupBaseDN }, nil),
	text("ldap.group_filter", "(|(member=%d)(uniqueMember=%d))", "filter that finds the groups of a user for `member`, with `%d` for the DN and `%u` for the name",
		func(s *Settings) *string { return &s.LDAP.GroupFilter }, nil),
	boolean("ldap.nested", false, "follows groups that are members of groups",
		func(s *Settings) *bool { return &s.LDAP.Nested }),
	names("ldap.admin_groups", "groups whose members are admins, each as a DN or a cn",
		func(s *Settings) *[]string { return &s.LDAP.AdminGroups }),
	names("ldap.user_groups", "groups whose members are users",
		func(s *Settings) *[]string { return &s.LDAP.UserGroups }),
	names("ldap.readonly_groups", "groups whose members may only read",
		func(s *Settings) *[]string { return &s.LDAP.ReadonlyGroups }),
	duration("ldap.timeout", "5s", 100*time.Millisecond, time.Minute, "how long one lookup in the directory may take",
		func(s *Settings) *time.Duration { return &s.LDAP.Timeout }),
	number("ldap.pool", 8, 1, 256, "connections to the directory of each kind: for searches and for passwords",
		func(s *Settings) *int { return &s.LDAP.Pool }),
	duration("ldap.cache_ttl", "30s", 0, time.Hour, "how long an answer of the directory is used; `0s` asks each time",
		func(s *Settings) *time.Duration { return &s.LDAP.CacheTTL }),
	text("bus.kind", BusMemory, "where live state is: `memory` (in this process) or `redis` (shared by several). See [fleet.md](fleet.md)",
		func(s *Settings) *string { return &s.Bus.Kind }, checkBusKind),
	list("bus.address", "", "the server, the sentinels or nodes of the cluster: `host:port`, the path of a unix socket, `redis://host[:port]`, or `rediss://` for TLS",
		func(s *Settings) *[]string { return &s.Bus.Address }, checkBusAddresses),
	text("bus.mode", RedisSingle, "how Redis is set up: `single`, `sentinel` or `cluster`",
		func(s *Settings) *string { return &s.Bus.Mode }, checkBusMode),
	text("bus.master_name", "", "name that the sentinels have for the server",
		func(s *Settings) *string { return &s.Bus.MasterName }, nil),
	text("bus.user", "", "name of an ACL user; the server's user `default` when empty",
		func(s *Settings) *string { return &s.Bus.User }, nil),
	secret("bus.password", "where the password of that user is. `SVC_BUS_PASSWORD` holds the password itself",
		func(s *Settings) *Reference { return &s.Bus.Password }),
	text("bus.sentinel_user", "", "name of an ACL user of the sentinels themselves",
		func(s *Settings) *string { return &s.Bus.SentinelUser }, nil),
	secret("bus.sentinel_password", "where the password for the sentinels themselves is",
		func(s *Settings) *Reference { return &s.Bus.SentinelPassword }),
	number("bus.database", 0, 0, 65535, "number of the database; a cluster has `0` only",
		func(s *Settings) *int { return &s.Bus.Database }),
	boolean("bus.tls", false, "encrypts the connections, as `rediss://` does",
		func(s *Settings) *bool { return &s.Bus.TLS }),
	text("bus.server_name", "", "name that the servers' certificates must have; the address's host when empty",
		func(s *Settings) *string { return &s.Bus.ServerName }, nil),
	text("bus.ca_file", "", "absolute path of a PEM file with the authorities of the servers' certificates; the system's when empty",
		func(s *Settings) *string { return &s.Bus.CAFile }, checkFile),
	text("bus.cert_file", "", "absolute path of a PEM file with the certificate that this service shows",
		func(s *Settings) *string { return &s.Bus.CertFile }, checkFile),
	text("bus.key_file", "", "absolute path of a PEM file with the key of that certificate",
		func(s *Settings) *string { return &s.Bus.KeyFile }, checkFile),
	text("bus.prefix", "svc:", "begins the name of every key and channel",
		func(s *Settings) *string { return &s.Bus.Prefix }, checkBusPrefix),
	duration("bus.timeout", "1s", 10*time.Millisecond, 30*time.Second, "how long one operation of the bus may take",
		func(s *Settings) *time.Duration { return &s.Bus.Timeout }),
	text("database.helper", "", "absolute path of the program `svc-duck`, which has the analytical database; beside the service's own program when empty. See [database.md](database.md)",
		func(s *Settings) *string { return &s.Database.Helper }, checkFile),
	duration("database.snapshot_max_age", "30s", 0, 24*time.Hour, "how old the data may be that `query_database` sees; `0s` makes a new snapshot for every query after a change",
		func(s *Settings) *time.Duration { return &s.Database.SnapshotMaxAge }),
	duration("database.query_timeout", "10s", 100*time.Millisecond, time.Hour, "how long a query of the analytical database may take",
		func(s *Settings) *time.Duration { return &s.Database.QueryTimeout }),
	size("database.memory", 512<<20, 64<<20, 1<<40, "memory that the writer of the analytical database, and each query of it, may take, in bytes",
		func(s *Settings) *int64 { return &s.Database.Memory }),
	number("database.threads", 2, 1, 256, "threads that the writer of the analytical database, and each query of it, may use",
		func(s *Settings) *int { return &s.Database.Threads }),
	duration("retention.threads", "0s", 0, longest, "threads in which nothing has happened for so long are removed; `0s` keeps them. See [growth.md](growth.md#retention)",
		func(s *Settings) *time.Duration { return &s.Retention.Threads }),
	duration("retention.ephemeral", "24h", 0, longest, "the same for the threads of runs that were started without one, and that were not used again",
		func(s *Settings) *time.Duration { return &s.Retention.Ephemeral }),
	duration("retention.events", "0s", 0, longest, "events of runs that have been over for so long are removed, the messages stay; `0s` keeps them",
		func(s *Settings) *time.Duration { return &s.Retention.Events }),
	duration("retention.requests", "0s", 0, longest, "how long the audit log keeps the records `request` and `flood`; `0s` keeps them",
		func(s *Settings) *time.Duration { return &s.Retention.Requests }),
	size("retention.requests_size", 0, 0, 1<<50, "bytes that `audit.db` may take before the oldest of these records are removed, whatever their age; `0` is no limit",
		func(s *Settings) *int64 { return &s.Retention.RequestsSize }),
	duration("retention.tool_calls", "0s", 0, longest, "how long the audit log keeps the records of runs that are over and of their tool calls; older ones are moved to an [archive](audit.md#archives). `0s` keeps them in the log",
		func(s *Settings) *time.Duration { return &s.Retention.ToolCalls }),
	size("retention.tool_calls_size", 0, 0, 1<<50, "bytes that `audit.db` may take before the oldest of these runs are moved to an archive, an hour after their end; `0` is no limit",
		func(s *Settings) *int64 { return &s.Retention.ToolCallsSize }),
	size("retention.size", 0, 0, 1<<50, "bytes that `state.db` may take before the oldest threads are removed; `0` is no limit",
		func(s *Settings) *int64 { return &s.Retention.Size }),
	duration("approvals.ttl", "15m", time.Second, 30*24*time.Hour, "how long a call waits for people, and how long an approval may be used. See [approvals.md](approvals.md)",
		func(s *Settings) *time.Duration { return &s.Approvals.TTL }),
	boolean(autoApprove, false, "lets runs of admins go on without a person where only rules of the program ask for one. For tests only: each time is a warning in the log",
		func(s *Settings) *bool { return &s.Approvals.Auto }),
	text("approvals.webhook_url", "", "`https` address that is told of calls that wait and of decisions. See [approvals.md](approvals.md#the-webhook)",
		func(s *Settings) *string { return &s.Approvals.WebhookURL }, checkWebhook),
	secret("approvals.webhook_secret", "where the secret is that signs what the webhook is sent, 32 characters at least",
		func(s *Settings) *Reference { return &s.Approvals.WebhookSecret }),
	boolean("approvals.webhook_private", false, "lets the webhook go to loopback and private addresses, and over plain `http`",
		func(s *Settings) *bool { return &s.Approvals.WebhookPrivate }),
	list("webhooks.hosts", "", "servers that a request may have told of its run's end: `example.org`, `*.example.org` for all hosts below it, each with `:port` where it is not the default one, and with `http://` before it where `https` is not wanted. Requests with a webhook are refused when empty",
		func(s *Settings) *[]string { return &s.Webhooks.Hosts }, checkHosts),
	list("webhooks.reach", "", "addresses and networks that are not public and that these servers may be at, as `10.1.2.3` or `10.1.0.0/16`. What is local to this host (loopback, link-local) needs its own address here",
		func(s *Settings) *[]string { return &s.Webhooks.Reach }, checkNetworks),
	secret("webhooks.secret", "where the secret is that signs what these servers are sent, 32 characters at least",
		func(s *Settings) *Reference { return &s.Webhooks.Secret }),
	text("sandbox.helper", "", "absolute path of the program `svc-sandbox`; beside the service when empty. See [sandbox.md](sandbox.md)",
		func(s *Settings) *string { return &s.Sandbox.Helper }, checkFile),
	text("sandbox.mode", SandboxAuto, "`auto` (the strongest sandbox that the host allows) or `full` (nothing is run where the host allows no namespaces)",
		func(s *Settings) *string { return &s.Sandbox.Mode }, checkSandboxMode),
	number("sandbox.netns", 0, 0, 1, "`1` gives programs in the sandbox no network at all",
		func(s *Settings) *int { return &s.Sandbox.Netns }),
	text("sandbox.network", SandboxProxy, "`proxy` (public addresses, over a proxy of the service that records them) or `host` (the host's network)",
		func(s *Settings) *string { return &s.Sandbox.Network }, checkSandboxNetwork),
	list("sandbox.reach", "", "networks that are not public and that the proxy may connect to nevertheless, as `10.1.0.0/16`; never an address of this host",
		func(s *Settings) *[]string { return &s.Sandbox.Reach }, checkPrefixes),
	size("sandbox.memory", 512<<20, 16<<20, 1<<50, "memory that all processes of one sandbox may take, in bytes",
		func(s *Settings) *int64 { return &s.Sandbox.Memory }),
	number("sandbox.processes", 128, 1, 100_000, "processes and threads that one sandbox may have",
		func(s *Settings) *int { return &s.Sandbox.Processes }),
	number("sandbox.open_files", 256, 16, 1_000_000, "files that one process may have open",
		func(s *Settings) *int { return &s.Sandbox.OpenFiles }),
	size("sandbox.workspace_size", 64<<20, 64<<10, 1<<40, "what all files of a workspace and its `/tmp` may take, in bytes",
		func(s *Settings) *int64 { return &s.Sandbox.WorkspaceSize }),
	number("sandbox.files", 4096, 16, 10_000_000, "files that a workspace and its `/tmp` may have",
		func(s *Settings) *int { return &s.Sandbox.Files }),
	size("sandbox.output", 1<<20, 1<<10, 64<<20, "how much of a program's output, and of its errors, is kept, in bytes. A program that prints 16 times as much, and more than 1 MiB, is stopped",
		func(s *Settings) *int64 { return &s.Sandbox.Output }),
	list("sandbox.system", SandboxSystem, "paths of the host that programs see, read-only; those that do not exist are left out",
		func(s *Settings) *[]string { return &s.Sandbox.System }, checkPaths),
	list("sandbox.env", "", "names of environment variables of the service that programs get",
		func(s *Settings) *[]string { return &s.Sandbox.Env }, checkEnvNames),
	list("sandbox.hidden", defaultHidden, "paths of the host that no sandbox shows, beside the data folder",
		func(s *Settings) *[]string { return &s.Sandbox.Hidden }, checkPaths),
	text("sandbox.provider", SandboxLocal, "where `run_code` runs programs: `local` (this host), `daytona`, `runloop` or `modal`. See [sandbox.md](sandbox.md#remote-sandboxes)",
		func(s *Settings) *string { return &s.Sandbox.Provider }, checkSandboxProvider),
	list("sandbox.agents", "", "agents whose programs run elsewhere, as `core=daytona`",
		func(s *Settings) *[]string { return &s.Sandbox.Agents }, checkSandboxAgents),
	size("sandbox.upload_size", 64<<20, 1<<20, 1<<40, "what may be sent to one remote sandbox, in bytes",
		func(s *Settings) *int64 { return &s.Sandbox.UploadSize }),
	text("sandbox.daytona_url", "https://app.daytona.io/api", "address of Daytona's API: https, or http to this host",
		func(s *Settings) *string { return &s.Sandbox.Daytona.URL }, checkRemoteURL),
	secret("sandbox.daytona_key", "where the API key for Daytona is. `SVC_SANDBOX_DAYTONA_KEY` holds the key itself",
		func(s *Settings) *Reference { return &s.Sandbox.Daytona.Key }),
	text("sandbox.daytona_snapshot", "", "snapshot that sandboxes are made from; the provider's when empty",
		func(s *Settings) *string { return &s.Sandbox.Daytona.Snapshot }, nil),
	text("sandbox.daytona_target", "", "region of the sandboxes; the organization's when empty",
		func(s *Settings) *string { return &s.Sandbox.Daytona.Target }, nil),
	text("sandbox.runloop_url", "https://api.runloop.ai", "address of Runloop's API: https, or http to this host",
		func(s *Settings) *string { return &s.Sandbox.Runloop.URL }, checkRemoteURL),
	secret("sandbox.runloop_key", "where the API key for Runloop is. `SVC_SANDBOX_RUNLOOP_KEY` holds the key itself",
		func(s *Settings) *Reference { return &s.Sandbox.Runloop.Key }),
	text("sandbox.runloop_blueprint", "", "name of the blueprint that devboxes are made from; the provider's image when empty",
		func(s *Settings) *string { return &s.Sandbox.Runloop.Blueprint }, nil),
	text("sandbox.runloop_network_policy", "", "id of the network policy that devboxes get. With `sandbox.netns 1` it must be one that allows nothing",
		func(s *Settings) *string { return &s.Sandbox.Runloop.NetworkPolicy }, nil),
	text("sandbox.modal_url", "https://api.modal.com:443", "address of Modal's API: https, or http to this host, without a path",
		func(s *Settings) *string { return &s.Sandbox.Modal.URL }, checkRemoteURL),
	text("sandbox.modal_token_id", "", "id of the token for Modal",
		func(s *Settings) *string { return &s.Sandbox.Modal.TokenID }, nil),
	secret("sandbox.modal_token_secret", "where the secret of that token is. `SVC_SANDBOX_MODAL_TOKEN_SECRET` holds the secret itself",
		func(s *Settings) *Reference { return &s.Sandbox.Modal.TokenSecret }),
	text("sandbox.modal_environment", "", "Modal's environment; that of the token when empty",
		func(s *Settings) *string { return &s.Sandbox.Modal.Environment }, nil),
	text("sandbox.modal_app", "svc", "Modal's app that the sandboxes belong to; it is made",
		func(s *Settings) *string { return &s.Sandbox.Modal.App }, nil),
	text("sandbox.modal_image", "python:3.13-slim-bookworm", "image of a registry that Modal's sandboxes are made from; it needs `sh`, `tar`, and what programs need",
		func(s *Settings) *string { return &s.Sandbox.Modal.Image }, nil),
	list("fetch.hosts", "", "servers that the tool `http_get` may ask: `example.org`, `*.example.org` for all hosts below it, each with `:port` where it is not the default one, and with `http://` before it where `https` is not wanted. The tool gets nothing when empty. See [fetch.md](fetch.md)",
		func(s *Settings) *[]string { return &s.Fetch.Hosts }, checkHosts),
	list("fetch.reach", "", "addresses and networks that are not public and that these servers may be at, as `10.1.2.3` or `10.1.0.0/16`. What is local to this host (loopback, link-local) needs its own address here",
		func(s *Settings) *[]string { return &s.Fetch.Reach }, checkNetworks),
	size("fetch.size", 100<<10, 1<<10, 120<<10, "how much text of an answer is shown, in bytes",
		func(s *Settings) *int64 { return &s.Fetch.Size }),
	duration("fetch.timeout", "20s", 100*time.Millisecond, time.Hour, "how long one call may take, `runtime.timeout` at most",
		func(s *Settings) *time.Duration { return &s.Fetch.Timeout }),
	text("fetch.ca_file", "", "absolute path of a PEM file with the authorities of the servers' certificates; the system's when empty",
		func(s *Settings) *string { return &s.Fetch.CAFile }, checkFile),
}

// Options lists every setting in the order it is shown, the lists of objects excepted.
func Options() []Option {
	all := make([]Option, len(options))
	for i, o := range options {
		all[i] = Option{Key: o.name, Default: o.def, Doc: o.doc}
	}
	return all
}

func lookup(key string) (field[Settings], bool) { return find(options, key) }

// Parse checks the words of one setting's value, as they stand in a Caddyfile after its key,
// and returns it in the form it has in JSON. A word with a placeholder in it, {env.NAME} for
// example, cannot be judged yet and passes as it is.
func Parse(key string, words []string) (any, error) {
	o, ok := lookup(key)
	if !ok {
		return nil, Unknown(key)
	}
	v, err := o.parse(words)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return v, nil
}
