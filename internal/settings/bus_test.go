package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestBus(t *testing.T) {
	doc := `{"bus": {"kind": "redis", "address": ["rediss://a.example", "rediss://b.example:7000", "c.example:7001"], "mode": "sentinel",
		"master_name": "main", "user": "svc", "password": "{env.P}", "sentinel_user": "watch", "sentinel_password": "{file./s}", "database": 3,
		"server_name": "redis.example", "ca_file": "/ca.pem", "cert_file": "/c.pem", "key_file": "/k.pem", "prefix": "one:", "timeout": "250ms"}}`
	s, _, err := settings.Resolve(settings.Layers{File: file(t, doc)})
	if err != nil {
		t.Fatal(err)
	}
	want := settings.Bus{
		Kind: "redis", Address: []string{"rediss://a.example", "rediss://b.example:7000", "c.example:7001"}, Mode: "sentinel", MasterName: "main",
		User: "svc", Password: "{env.P}", SentinelUser: "watch", SentinelPassword: "{file./s}", Database: 3,
		ServerName: "redis.example", CAFile: "/ca.pem", CertFile: "/c.pem", KeyFile: "/k.pem", Prefix: "one:", Timeout: 250 * time.Millisecond,
	}
	if d := cmp.Diff(want, s.Bus); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a.example:26379", "b.example:7000", "c.example:7001"}, s.Bus.Endpoints()); d != "" {
		t.Errorf("endpoints (-want +got):\n%s", d)
	}
	if !s.Bus.Encrypted() {
		t.Error("rediss:// and not encrypted")
	}
	if err := s.CheckEnvironment(env(nil)); err == nil || !strings.Contains(err.Error(), "bus.password: P is not set") {
		t.Errorf("got %v, want an error that names a secret that is not there", err)
	}
}

func TestBusErrors(t *testing.T) {
	for _, tt := range []struct{ name, bus, want string }{
		{"no address", ``, `bus.address is missing: bus.kind redis needs the address of the server`},
		{"several", `"address": ["a:1", "b:1"]`, `bus.address lists several servers, and bus.mode single has one`},
		{"no master", `"address": "a:1", "mode": "sentinel"`, `bus.master_name is missing: bus.mode sentinel needs`},
		{"master for nothing", `"address": "a:1", "master_name": "m"`, `bus.master_name has no effect`},
		{"sentinel for nothing", `"address": "a:1", "sentinel_password": "{env.P}"`, `bus.sentinel_user and bus.sentinel_password have no effect`},
		{"sentinel user alone", `"address": "a:1", "mode": "sentinel", "master_name": "m", "sentinel_user": "w"`, `bus.sentinel_password is missing`},
		{"database of a cluster", `"address": "a:1", "mode": "cluster", "database": 1`, `bus.database has no effect: a cluster has the database 0 only`},
		{"socket of a cluster", `"address": "/r.sock", "mode": "cluster"`, `bus.address is a unix socket: bus.mode cluster needs host:port`},
		{"user alone", `"address": "a:1", "user": "u"`, `bus.password is missing: bus.user needs one`},
		{"files without tls", `"address": "a:1", "ca_file": "/ca"`, `have no effect without bus.tls true`},
		{"certificate alone", `"address": "a:1", "tls": true, "cert_file": "/c"`, `bus.cert_file and bus.key_file belong together`},
		{"plain and encrypted", `"address": ["redis://a"], "tls": true`, `bus.address has redis:// where all connections are encrypted`},
		{"encrypted socket", `"address": "/r.sock", "tls": true`, `bus.server_name is missing`},
		{"kind", `"kind": "reddis"`, `bus.kind: "reddis" is not a kind of bus; did you mean redis?: use memory or redis`},
		{"mode", `"mode": "clustr"`, `bus.mode: "clustr" is not a mode; did you mean cluster?: use single, sentinel or cluster`},
		{"password in a URL", `"address": "redis://:hunter2@a:1"`, `bus.address: an address must not carry a user or password: use bus.user`},
		{"password in an address", `"address": "svc:hunter2@a:1"`, `bus.address: an address must not carry a user or password`},
		{"database in a URL", `"address": "redis://a:1/3"`, `bus.address: an address ends with the host or the port: the number of the database is bus.database`},
		{"query", `"address": "redis://a:1?db=hunter2"`, `bus.address: an address must not carry a query`},
		{"no host in a URL", `"address": "redis://"`, `bus.address: this is not an address such as 127.0.0.1:6379`},
		{"no port", `"address": "hunter2"`, `bus.address: this is not an address such as 127.0.0.1:6379`},
		{"port", `"address": "a:99999"`, `bus.address: this is not an address`},
		{"scheme", `"address": "http://a:1"`, `bus.address: this is not an address`},
		{"address twice", `"address": ["a:1", "a:1"]`, `bus.address: a:1 is listed twice`},
		{"secret", `"password": "hunter2"`, `bus.password: this is not {env.NAME} or {file./path}`},
		{"prefix", `"prefix": "a{b}"`, `bus.prefix: this is not a prefix for keys`},
		{"timeout", `"timeout": "1ms"`, `bus.timeout: 1ms is out of range: use 10ms to 30s`},
		{"database", `"database": -1`, `bus.database: -1 is out of range`},
		{"relative file", `"ca_file": "ca.pem"`, `bus.ca_file: "ca.pem" is not an absolute path`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(tt.bus, `"kind"`) {
				tt.bus = strings.TrimSuffix(`"kind": "redis", `+tt.bus, ", ")
			}
			_, _, err := settings.Resolve(settings.Layers{File: file(t, `{"bus": {`+tt.bus+`}}`)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a secret: %v", err)
			}
		})
	}
	for name, doc := range map[string]string{
		"memory with an address": `"kind": "memory", "address": "a:1"`, // a layer above may have said memory
		"socket":                 `"kind": "redis", "address": "/run/redis.sock", "database": 2`,
		"IPv6":                   `"kind": "redis", "address": "[::1]:6379"`,
		"cluster":                `"kind": "redis", "address": ["a:1", "b:1"], "mode": "cluster", "tls": true`,
	} {
		if _, _, err := settings.Resolve(settings.Layers{File: file(t, `{"bus": {`+doc+`}}`)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
