package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/svc-gateway/svc/caddymodule/app"
)

// TestLogFormat logs a request as Caddy does, in each form of lines.
func TestLogFormat(t *testing.T) {
	const token, password = "svc_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghi", "correct-horse-battery"
	r, err := http.NewRequest(http.MethodGet, "http://gateway/x?password="+password, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.RequestURI = r.URL.RequestURI()
	r.Header.Set("X-Api-Key", token)
	for name, options := range map[string]string{"json": "svc", "console": "svc {\nwrap console\n}", "filtered": "svc {\nwrap filter {\nwrap json\n}\n}"} {
		t.Run(name, func(t *testing.T) {
			f := newLogFormat(t, options)
			lazy := f.Clone() // as a logger with fields has one
			zap.Object("request", caddyhttp.LoggableHTTPRequest{Request: r}).AddTo(lazy)
			line, err := lazy.EncodeEntry(zapcore.Entry{Message: "handled request", Time: time.Unix(0, 0)},
				[]zapcore.Field{zap.String("error", "dial redis://:"+password+"@cache"), zap.Int("status", 502)})
			if err != nil {
				t.Fatal(err)
			}
			text := line.String()
			if strings.Contains(text, token) || strings.Contains(text, password) {
				t.Errorf("a credential is in the line: %s", text)
			}
			for _, want := range []string{"handled request", "X-Api-Key", "502", "REDACTED", "redis://"} {
				if !strings.Contains(text, want) {
					t.Errorf("got %s, want %q in it", text, want)
				}
			}
			if !strings.HasSuffix(text, "\n") || strings.Count(text, "\n") != 1 {
				t.Errorf("got %q, want one line", text)
			}
		})
	}
}

func newLogFormat(t *testing.T, options string) *app.LogFormat {
	t.Helper()
	f := new(app.LogFormat)
	if err := f.UnmarshalCaddyfile(caddyfile.NewTestDispenser(options)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	if err := f.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLogFormatMistakes(t *testing.T) {
	for options, want := range map[string]string{
		"svc json":                             "takes no argument",
		"svc {\nwarp json\n}":                  `unknown option "warp"`,
		"svc {\nwrap\n}":                       "needs the name of an encoder",
		"svc {\nwrap xml\n}":                   "xml",
		"svc {\nwrap json\nwrap console\n}":    "once",
		"svc {\nwrap json {\nfancy true\n}\n}": "fancy",
	} {
		err := new(app.LogFormat).UnmarshalCaddyfile(caddyfile.NewTestDispenser(options))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", options, err, want)
		}
	}
}
