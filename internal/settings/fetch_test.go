package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestFetchSettings(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a path", `{"fetch": {"hosts": ["https://example.org/x"]}}`, `fetch.hosts: "https://example.org/x" is more than a host`},
		{"a user", `{"fetch": {"hosts": ["ada@example.org"]}}`, `leave paths, queries and user names out`},
		{"everything", `{"fetch": {"hosts": ["*"]}}`, `"*": a * may only stand for what is before a name`},
		{"a star elsewhere", `{"fetch": {"hosts": ["www.*.org"]}}`, `a * may only stand for what is before a name`},
		{"below an address", `{"fetch": {"hosts": ["*.10.1.2.3"]}}`, `there are no hosts below an address`},
		{"another scheme", `{"fetch": {"hosts": ["ftp://example.org"]}}`, `unknown scheme`},
		{"a port", `{"fetch": {"hosts": ["example.org:0"]}}`, `number from 1 to 65535`},
		{"no port", `{"fetch": {"hosts": ["example.org:"]}}`, `no port behind the colon`},
		{"an international name", `{"fetch": {"hosts": ["bücher.example"]}}`, `xn--`},
		{"a dot at the end", `{"fetch": {"hosts": ["example.org."]}}`, `ends with a dot`},
		{"an odd address", `{"fetch": {"hosts": ["127.1"]}}`, `four decimal numbers`},
		{"brackets", `{"fetch": {"hosts": ["[fd00::1"]}}`, `brackets`},
		{"no network", `{"fetch": {"reach": ["10.1.2.3/16"]}}`, `fetch.reach: "10.1.2.3/16" is neither an address nor a network`},
		{"too much text", `{"fetch": {"size": "1MiB"}}`, `fetch.size`},
		{"a relative file", `{"fetch": {"ca_file": "ca.pem"}}`, `fetch.ca_file`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := settings.Resolve(settings.Layers{File: file(t, tc.text)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
	s, _, err := settings.Resolve(settings.Layers{Env: env(map[string]string{
		"SVC_FETCH_HOSTS": "example.org,*.example.org:8443,http://10.1.2.3,[fd00::1]:443", "SVC_FETCH_REACH": "10.1.0.0/16,127.0.0.1",
	})})
	if err != nil {
		t.Fatal(err)
	}
	want := settings.Fetch{
		Hosts: []string{"example.org", "*.example.org:8443", "http://10.1.2.3", "[fd00::1]:443"}, Reach: []string{"10.1.0.0/16", "127.0.0.1"},
		Size: s.Fetch.Size, Timeout: s.Fetch.Timeout,
	}
	if d := cmp.Diff(want, s.Fetch); d != "" {
		t.Error(d)
	}
}
