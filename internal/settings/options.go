package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// AsyncSubagentsKey is a setting that is a list of objects and so has no section, like
// [IssuersKey]; it can be written in config/api.json and in the Caddy app's JSON only.
const AsyncSubagentsKey = "async_subagents"

// Option describes a setting to people and to programs.
type Option struct {
	Key     string // section.key
	Default string // as text; empty when there is none
	Doc     string // one sentence, with the unit
}

// Env is the environment variable that sets the option.
func (o Option) Env() string {
	return "SVC_" + strings.ToUpper(strings.ReplaceAll(o.Key, ".", "_"))
}

// kind is how a value is written in JSON.
type kind int

const (
	kindText      kind = iota // "words"
	kindNumber                // 12
	kindSize                  // 4194304 or "4MiB"
	kindList                  // ["a","b"] or "a,b"
	kindNames                 // ["a","b"] or "a;b": names have commas and spaces in them
	kindBool                  // true
	kindReference             // "{env.NAME}" or "{file./path}"
)

// option is an Option with its place in Settings. set is given the words of the value, at
// least one and exactly one unless kind is kindList or kindNames; show gives them back.
type option struct {
	Option
	kind kind
	set  func(*Settings, []string) error
	show func(*Settings) string
}

var options = []option{
	list("auth.mode", "none", "ways to prove who one is, asked in order: none, token, ldap, oidc",
		func(s *Settings) *[]string { return &s.Auth.Mode }, checkModes),
	number("auth.session_ttl_hours", 24, 1, 24*365, "hours a session lasts, at most",
		func(s *Settings) *int { return &s.Auth.SessionTTLHours }),
	text("auth.public_url", "", "address that browsers know this service by, scheme://host[:port]; taken from the request when empty",
		func(s *Settings) *string { return &s.Auth.PublicURL }, checkPublicURL),
	duration("runtime.timeout", "60s", time.Millisecond, time.Hour, "hard limit of one tool call",
		func(s *Settings) *time.Duration { return &s.Runtime.Timeout }),
	text("runtime.project_root", "", "absolute folder that file tools may work in; the folder the service was started in when empty",
		func(s *Settings) *string { return &s.Runtime.ProjectRoot }, checkProjectRoot),
	number("runtime.max_steps", 25, 1, 1000, "model turns a run may take",
		func(s *Settings) *int { return &s.Runtime.MaxSteps }),
	number("runtime.max_tokens", 200_000, 1, 1_000_000_000, "tokens a run may use",
		func(s *Settings) *int { return &s.Runtime.MaxTokens }),
	duration("runtime.run_timeout", "10m", time.Second, 7*24*time.Hour, "how long a run may take",
		func(s *Settings) *time.Duration { return &s.Runtime.RunTimeout }),
	text("model.provider", ProviderDemo, "demo (embedded, no network) or openai (any server of that protocol)",
		func(s *Settings) *string { return &s.Model.Provider }, checkProvider),
	text("model.base_url", "https://api.openai.com/v1", "address of the model server's API",
		func(s *Settings) *string { return &s.Model.BaseURL }, checkURL),
	text("model.name", "", "the model's name as the server knows it",
		func(s *Settings) *string { return &s.Model.Name }, nil),
	text("model.api_key_env", "", "name of the environment variable that holds the API key",
		func(s *Settings) *string { return &s.Model.APIKeyEnv }, checkEnvName),
	duration("model.timeout", "120s", time.Second, time.Hour, "how long one model turn may take",
		func(s *Settings) *time.Duration { return &s.Model.Timeout }),
	number("model.max_retries", 2, 0, 10, "how often a failed request to the model is repeated",
		func(s *Settings) *int { return &s.Model.MaxRetries }),
	size("limits.body_bytes", 4<<20, 1<<10, 1<<30, "largest request body, in bytes or as 4MiB",
		func(s *Settings) *int64 { return &s.Limits.BodyBytes }),
	number("limits.requests_per_minute", 6000, 0, 10_000_000, "requests a user may make in a minute, in the long run; 0 is no limit",
		func(s *Settings) *int { return &s.Limits.RequestsPerMinute }),
	number("limits.requests_burst", 600, 1, 100_000, "requests a user may make at once",
		func(s *Settings) *int { return &s.Limits.RequestsBurst }),
	number("limits.runs_per_minute", 600, 1, 1_000_000, "runs a user may start in a minute",
		func(s *Settings) *int { return &s.Limits.RunsPerMinute }),
	number("limits.parallel_runs", 100, 1, 100_000, "runs of a user that may be going at once",
		func(s *Settings) *int { return &s.Limits.ParallelRuns }),
	list("cors.origins", "", "origins of web pages that may call the API, scheme://host[:port] or *",
		func(s *Settings) *[]string { return &s.CORS.Origins }, checkOrigins),
	list("ldap.url", "", "servers of the directory, ldap://host[:port] with StartTLS or ldaps://host[:port], asked in turn",
		func(s *Settings) *[]string { return &s.LDAP.URL }, checkServers),
	boolean("ldap.insecure", "whether passwords are sent in clear to ldap:// servers, without StartTLS",
		func(s *Settings) *bool { return &s.LDAP.Insecure }),
	text("ldap.ca_file", "", "PEM file with the authorities of the directory's certificates; the system's when empty",
		func(s *Settings) *string { return &s.LDAP.CAFile }, checkFile),
	text("ldap.bind_dn", "", "account that searches the directory; anonymous when empty",
		func(s *Settings) *string { return &s.LDAP.BindDN }, nil),
	secret("ldap.bind_password", "where its password is, {env.NAME} or {file./path}",
		func(s *Settings) *Reference { return &s.LDAP.BindPassword }),
	text("ldap.user_template", "", "DN of every user with %u for the name, instead of a search",
		func(s *Settings) *string { return &s.LDAP.UserTemplate }, checkUserPattern),
	text("ldap.base_dn", "", "where users are searched for",
		func(s *Settings) *string { return &s.LDAP.BaseDN }, nil),
	text("ldap.filter", "(uid=%u)", "finds a user, with %u for the name that was given",
		func(s *Settings) *string { return &s.LDAP.Filter }, checkUserPattern),
	text("ldap.name_attribute", "uid", "attribute with the user name",
		func(s *Settings) *string { return &s.LDAP.NameAttribute }, nil),
	text("ldap.id_attribute", "entryUUID", "attribute that identifies a user for ever",
		func(s *Settings) *string { return &s.LDAP.IDAttribute }, nil),
	text("ldap.groups", GroupsMemberOf, "how groups are found: memberof (attribute), member (search) or chain (search, nested by the server)",
		func(s *Settings) *string { return &s.LDAP.Groups }, checkGroups),
	text("ldap.group_base_dn", "", "where groups are searched for; ldap.base_dn when empty",
		func(s *Settings) *string { return &s.LDAP.GroupBaseDN }, nil),
	text("ldap.group_filter", "(|(member=%d)(uniqueMember=%d))", "finds the groups of a user for member, with %d for the DN and %u for the name",
		func(s *Settings) *string { return &s.LDAP.GroupFilter }, nil),
	boolean("ldap.nested", "whether members of groups in groups count",
		func(s *Settings) *bool { return &s.LDAP.Nested }),
	names("ldap.admin_groups", "groups, DNs or cns, whose members are admins",
		func(s *Settings) *[]string { return &s.LDAP.AdminGroups }),
	names("ldap.user_groups", "groups, DNs or cns, whose members are users",
		func(s *Settings) *[]string { return &s.LDAP.UserGroups }),
	names("ldap.readonly_groups", "groups, DNs or cns, whose members may only read",
		func(s *Settings) *[]string { return &s.LDAP.ReadonlyGroups }),
	duration("ldap.timeout", "5s", 100*time.Millisecond, time.Minute, "how long one look at the directory may take",
		func(s *Settings) *time.Duration { return &s.LDAP.Timeout }),
	number("ldap.pool", 8, 1, 256, "connections to the directory of each kind, searching and checking passwords",
		func(s *Settings) *int { return &s.LDAP.Pool }),
	duration("ldap.cache_ttl", "30s", 0, time.Hour, "how long an answer of the directory holds; 0s asks each time",
		func(s *Settings) *time.Duration { return &s.LDAP.CacheTTL }),
	text("bus.kind", BusMemory, "where live state is: memory (this process) or redis (shared by several)",
		func(s *Settings) *string { return &s.Bus.Kind }, checkBusKind),
	list("bus.address", "", "the server, the sentinels or nodes of the cluster: host:port, a unix socket's path, redis:// or rediss://",
		func(s *Settings) *[]string { return &s.Bus.Address }, checkBusAddresses),
	text("bus.mode", RedisSingle, "how Redis is set up: single, sentinel or cluster",
		func(s *Settings) *string { return &s.Bus.Mode }, checkBusMode),
	text("bus.master_name", "", "what the sentinels call the server",
		func(s *Settings) *string { return &s.Bus.MasterName }, nil),
	text("bus.user", "", "name of an ACL user; the server's user default when empty",
		func(s *Settings) *string { return &s.Bus.User }, nil),
	secret("bus.password", "where its password is, {env.NAME} or {file./path}",
		func(s *Settings) *Reference { return &s.Bus.Password }),
	text("bus.sentinel_user", "", "name of an ACL user of the sentinels themselves",
		func(s *Settings) *string { return &s.Bus.SentinelUser }, nil),
	secret("bus.sentinel_password", "where the password for the sentinels themselves is, {env.NAME} or {file./path}",
		func(s *Settings) *Reference { return &s.Bus.SentinelPassword }),
	number("bus.database", 0, 0, 65535, "number of the database",
		func(s *Settings) *int { return &s.Bus.Database }),
	boolean("bus.tls", "whether connections are encrypted, as rediss:// does",
		func(s *Settings) *bool { return &s.Bus.TLS }),
	text("bus.server_name", "", "name that the servers' certificates must have; the address's host when empty",
		func(s *Settings) *string { return &s.Bus.ServerName }, nil),
	text("bus.ca_file", "", "PEM file with the authorities of the servers' certificates; the system's when empty",
		func(s *Settings) *string { return &s.Bus.CAFile }, checkFile),
	text("bus.cert_file", "", "PEM file with the certificate that this service shows",
		func(s *Settings) *string { return &s.Bus.CertFile }, checkFile),
	text("bus.key_file", "", "PEM file with the key of that certificate",
		func(s *Settings) *string { return &s.Bus.KeyFile }, checkFile),
	text("bus.prefix", "svc:", "begins the name of every key and channel",
		func(s *Settings) *string { return &s.Bus.Prefix }, checkBusPrefix),
	duration("bus.timeout", "1s", 10*time.Millisecond, 30*time.Second, "how long one operation of the bus may take",
		func(s *Settings) *time.Duration { return &s.Bus.Timeout }),
}

// Options lists every setting in the order it is shown, the lists of objects excepted.
func Options() []Option {
	all := make([]Option, len(options))
	for i, o := range options {
		all[i] = o.Option
	}
	return all
}

func lookup(key string) (option, bool) {
	for _, o := range options {
		if o.Key == key {
			return o, true
		}
	}
	return option{}, false
}

func text(key, def, doc string, field func(*Settings) *string, check func(string) error) option {
	return option{
		Option: Option{Key: key, Default: def, Doc: doc}, kind: kindText,
		set: func(s *Settings, words []string) error {
			v := strings.TrimSpace(words[0])
			if check != nil && v != "" {
				if err := check(v); err != nil {
					return err
				}
			}
			*field(s) = v
			return nil
		},
		show: func(s *Settings) string { return *field(s) },
	}
}

func list(key, def, doc string, field func(*Settings) *[]string, check func([]string) error) option {
	return option{
		Option: Option{Key: key, Default: def, Doc: doc}, kind: kindList,
		set: func(s *Settings, words []string) error {
			if err := check(words); err != nil {
				return err
			}
			*field(s) = words
			return nil
		},
		show: func(s *Settings) string { return strings.Join(*field(s), ",") },
	}
}

// names is a list whose items have commas and spaces in them, as DNs do.
func names(key, doc string, field func(*Settings) *[]string) option {
	o := list(key, "", doc, field, checkNames)
	o.kind = kindNames
	o.show = func(s *Settings) string { return strings.Join(*field(s), ";") }
	return o
}

func boolean(key, doc string, field func(*Settings) *bool) option {
	return option{
		Option: Option{Key: key, Default: "false", Doc: doc}, kind: kindBool,
		set: func(s *Settings, words []string) error {
			v := strings.TrimSpace(words[0])
			if v != "true" && v != "false" {
				return fmt.Errorf("%q is neither true nor false", v)
			}
			*field(s) = v == "true"
			return nil
		},
		show: func(s *Settings) string { return strconv.FormatBool(*field(s)) },
	}
}

func number(key string, def, low, high int, doc string, field func(*Settings) *int) option {
	return option{
		Option: Option{Key: key, Default: strconv.Itoa(def), Doc: doc}, kind: kindNumber,
		set: func(s *Settings, words []string) error {
			n, err := parseNumber(words[0], int64(low), int64(high))
			if err != nil {
				return err
			}
			*field(s) = int(n)
			return nil
		},
		show: func(s *Settings) string { return strconv.Itoa(*field(s)) },
	}
}

func size(key string, def, low, high int64, doc string, field func(*Settings) *int64) option {
	return option{
		Option: Option{Key: key, Default: strconv.FormatInt(def, 10), Doc: doc}, kind: kindSize,
		set: func(s *Settings, words []string) error {
			n, err := parseSize(words[0], low, high)
			if err != nil {
				return err
			}
			*field(s) = n
			return nil
		},
		show: func(s *Settings) string { return strconv.FormatInt(*field(s), 10) },
	}
}

func duration(key, def string, low, high time.Duration, doc string, field func(*Settings) *time.Duration) option {
	return option{
		Option: Option{Key: key, Default: def, Doc: doc}, kind: kindText,
		set: func(s *Settings, words []string) error {
			d, err := parseDuration(words[0], low, high)
			if err != nil {
				return err
			}
			*field(s) = d
			return nil
		},
		show: func(s *Settings) string { return field(s).String() },
	}
}
