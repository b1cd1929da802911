package command

import (
	"slices"
	"testing"
)

func TestDaemons(t *testing.T) {
	for text, category := range map[string]string{
		"nginx -s reload": Reload, "sudo /usr/sbin/nginx -c /etc/nginx/x.conf -s reopen": Reload, "apachectl -k graceful": Reload,
		"apache2ctl restart": Reload, "caddy reload --config Caddyfile": Reload, "squid -k reconfigure": Reload, "postfix reload": Reload,
		"pg_ctl -D /var/lib/x restart": Reload, "rndc reload example.org": Reload, "sv restart web": Reload, "cd x && nginx -s reload": Reload,
		"nginx -s stop": CriticalProcess, "nginx -s quit": CriticalProcess, "apachectl graceful-stop": CriticalProcess, "caddy stop": CriticalProcess,
		"pg_ctl stop -m fast": CriticalProcess, "squid -k shutdown": CriticalProcess,
	} {
		got := Analyze(text)
		if got.Class != Dangerous || !slices.ContainsFunc(got.Spans, func(s Span) bool { return s.Category == category }) {
			t.Errorf("Analyze(%q): got %s %v, want the category %s", text, got.Class, got.Spans, category)
		}
	}
	for _, text := range []string{"nginx", "nginx -t", "nginx -g 'daemon off;'", "nginx -s $what", "caddy run", "caddy fmt Caddyfile", "httpd -X", "postfix flush", "sv"} {
		if got := Analyze(text); got.Class != Unknown {
			t.Errorf("Analyze(%q): got %s, want unknown", text, got.Class)
		}
	}
}
