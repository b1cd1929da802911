package redis_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/bus/redis"
	"github.com/svc-gateway/svc/internal/bus/redistest"
)

// sentinelRules are what docs/fleet.md gives the user for the sentinels.
const sentinelRules = "&* +hello +ping +sentinel +subscribe"

// The server dies, its replica takes over, and two processes find it.
func TestSentinelFailover(t *testing.T) {
	f := redistest.NewFailover(t)
	tell(t, f.Sentinel, "acl setuser watch on >open-sesame "+sentinelRules)
	settings := f.Bus()
	settings.SentinelUser, settings.SentinelPassword = "watch", "{env.RIGHT}"
	here, reports := open(t, settings)
	there, _ := open(t, settings)
	sub := there.Subscribe("topic")
	defer sub.Close()
	send(t, here, "before")
	heard(t, sub, "before")
	before, err := here.Lease(t.Context(), "k", "here", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Master.Stop(); err != nil {
		t.Fatal(err)
	}
	cutOff(t, here, reports, "unreachable")
	refuses(t, here)
	limits(t, here, "k")
	lost(t, sub)
	back(t, here, reports)
	await(t, "the other is connected", func() bool { return there.Health().Connected })
	if err := here.Release(t.Context(), "k", "here"); err != nil {
		t.Error(err)
	}
	after, err := there.Lease(t.Context(), "k", "there", time.Minute)
	if err != nil || after <= before {
		t.Errorf("got the token %d, %v, after %d", after, err, before)
	}
	send(t, here, "after")
	heard(t, sub, "after")
}

// One server of a cluster goes: what the others hold must not be taken for the whole.
func TestClusterServerGone(t *testing.T) {
	c := redistest.NewCluster(t)
	b, reports := open(t, c.Bus())
	gone := c.Servers[2]
	if err := gone.Stop(); err != nil {
		t.Fatal(err)
	}
	report(t, reports, true)
	refuses(t, b)
	limits(t, b, "k")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	back(t, b, reports)
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if token, err := b.Lease(t.Context(), key, "x", time.Minute); token == 0 || err != nil {
			t.Errorf("Lease(%q): got %d, %v", key, token, err)
		}
	}
}

// documented is the line of docs/fleet.md that makes the ACL user.
var documented = regexp.MustCompile(`(?m)^ACL SETUSER svc on >PASSWORD (.+)$`)

func documentedRules(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	m := documented.FindSubmatch(page)
	if m == nil {
		t.Fatal("docs/fleet.md does not say how to make the user")
	}
	return strings.Fields(string(m[1]))
}

// TestDocumentedUser holds that the user of the manual may do all that is needed, and that each of
// its permissions is needed.
func TestDocumentedUser(t *testing.T) {
	rules := documentedRules(t)
	s := redistest.New(t)
	settings := s.Bus()
	settings.User, settings.Password = "svc", "{env.RIGHT}"
	user := func(rules []string) { tell(t, s, "acl setuser svc reset on >open-sesame "+strings.Join(rules, " ")) }
	user(rules)
	t.Run("all", func(t *testing.T) { conformance(t, settings) })
	for i, rule := range rules {
		if rule == "+hello" || rule == "+select" { // spares a round trip; for bus.database
			continue
		}
		user(append(rules[:i:i], rules[i+1:]...))
		b, err := redis.Open(t.Context(), settings, redis.Options{Env: environment})
		if err != nil {
			t.Fatal(err)
		}
		if h := b.Health(); h.Connected || !errors.Is(h.Err, bus.ErrUnavailable) {
			t.Errorf("without %s: got %+v, want a user that may not do what is needed", rule, h)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDocumentedUserOfACluster(t *testing.T) {
	c := redistest.NewCluster(t)
	for _, s := range c.Servers {
		tell(t, s, "acl setuser svc on >open-sesame "+strings.Join(append(documentedRules(t), "+cluster|slots"), " "))
	}
	settings := c.Bus()
	settings.User, settings.Password = "svc", "{env.RIGHT}"
	b, _ := open(t, settings)
	if h := b.Health(); !h.Connected {
		t.Errorf("got %+v", h)
	}
}
