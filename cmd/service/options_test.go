package main

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/caddymodule/app/commands"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHostAndPortNeedAPlaceholder(t *testing.T) {
	for _, tt := range []struct{ name, file, content, host, port, want string }{
		{"used", "Caddyfile", ":{$SVC_PORT:1} {\n\tbind {$SVC_HOST:0.0.0.0}\n}\n", "127.0.0.1", "2299", ""},
		{"used in JSON", "c.json", `{"apps":{"http":{"servers":{"s":{"listen":["{env.SVC_HOST}:{env.SVC_PORT}"]}}}}}`, "127.0.0.1", "2299", ""},
		{"port unused", "Caddyfile", ":2299\n", "", "2298", "--port has no effect"},
		{"host unused", "Caddyfile", ":{$SVC_PORT}\n", "127.0.0.1", "2299", "--host has no effect"},
		{"only in a comment", "Caddyfile", "# {$SVC_PORT}\n:2299\n", "", "2298", "--port has no effect"},
		{"neither given", "Caddyfile", ":2299\n", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("SVC_HOST", "")
			t.Setenv("SVC_PORT", "")
			o := startOptions{host: tt.host, port: tt.port, config: write(t, tt.file, tt.content)}
			if err := o.apply(); err != nil {
				t.Fatal(err)
			}
			_, err := o.configuration(io.Discard)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
			if got := os.Getenv("SVC_PORT"); got != tt.port {
				t.Errorf("SVC_PORT is %q after the check, want %q", got, tt.port)
			}
		})
	}
}

func TestFlagErrors(t *testing.T) {
	for _, tt := range []struct {
		o        startOptions
		env      string
		wantText string
	}{
		{startOptions{port: "0"}, "", `--port: "0" is not a port`},
		{startOptions{port: "http"}, "", `--port: "http" is not a port`},
		{startOptions{host: "a b"}, "", `--host: "a b" is not an address`},
		{startOptions{set: []string{"x"}}, "", `--set: "x" is not of the form section.key=value`},
		{startOptions{}, "tcp://10.0.0.1:80", `SVC_PORT is "tcp://10.0.0.1:80", which is not a port`},
	} {
		t.Setenv("SVC_PORT", tt.env)
		t.Setenv("SVC_HOST", "")
		if err := tt.o.apply(); err == nil || !strings.Contains(err.Error(), tt.wantText) {
			t.Errorf("%+v: got error %v, want one with %q", tt.o, err, tt.wantText)
		}
	}
}

func TestWithApp(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                           `{"apps":{"svc":{}}}`,
		`{"admin":{},"apps":{"a":{}}}`: `{"admin":{},"apps":{"a":{},"svc":{}}}`,
		`{"apps":{"svc":{"auth":{}}}}`: `{"apps":{"svc":{"auth":{}}}}`,
	} {
		got, err := withApp([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("withApp(%s): got %s, %v, want %s", in, got, err, want)
		}
	}
	if _, err := withApp([]byte(`[]`)); err == nil {
		t.Error("a configuration that is a list is accepted")
	}
}

func TestCheckListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct{ listen, want string }{
		{taken.Addr().String(), "is taken by another program"},
		{"192.0.2.1:2299", "is not an address of this host"},
		{"unix//tmp/x.sock", ""},
		{"127.0.0.1:0", ""},
		{"127.0.0.1:x", "reading the configuration"},
	} {
		listen, _ := json.Marshal([]string{tt.listen})
		err := checkListen([]byte(`{"apps":{"http":{"servers":{"s":{"listen":` + string(listen) + `}}}}}`))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want %q", tt.listen, err, tt.want)
		}
	}
}

func TestArgsGoToTheServiceProcess(t *testing.T) {
	o := startOptions{port: "1", set: []string{"a.b=c", "d.e=f"}, foreground: true}
	if got, want := strings.Join(o.args(), " "), "--port 1 --set a.b=c --set d.e=f"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBuiltInCaddyfile(t *testing.T) {
	t.Setenv("SVC_HOME", "/data folder")
	t.Setenv("SVC_HOST", "")
	t.Setenv("SVC_PORT", "")
	prepareEnvironment(io.Discard)
	var warnings strings.Builder
	got, err := commands.Adapt("", &warnings)
	if err != nil || warnings.Len() > 0 {
		t.Fatalf("got %v, warnings %q", err, warnings.String())
	}
	want := `{"admin":{"listen":"unix//data folder/run/admin.sock|0600","config":{"persist":false}},` +
		`"logging":{"logs":{"default":{"encoder":{"format":"svc"}}}},` +
		`"apps":{"http":{"grace_period":10000000000,"servers":{"srv0":{"listen":["0.0.0.0:2280"],"routes":[{"handle":[` +
		`{"handler":"svc_auth"},{"bodies":["request"],"handler":"svc_scan"},{"handler":"svc_redact","pass":["application/javascript","text/javascript"]},{"handler":"svc_stream"},{"handler":"svc_agents"}]}]}}},"svc":{}}}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
