package redis_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/bus/redis"
	"github.com/svc-gateway/svc/internal/bus/redistest"
)

// patience bounds how long something may take; it is only spent on failure.
const patience = 30 * time.Second

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.After(patience); !ok(); {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatalf("waited %s for: %s", patience, what)
		}
	}
}

// cutOff waits until the bus says that it is cut off, for this reason, once.
func cutOff(t *testing.T, b *redis.Bus, reports <-chan error, reason string) {
	t.Helper()
	report(t, reports, true)
	await(t, "the reason "+reason, func() bool { return b.Health().Reason == reason })
	if h := b.Health(); h.Connected || !errors.Is(h.Err, bus.ErrUnavailable) || strings.Contains(h.Err.Error(), "hunter2") {
		t.Errorf("got health %+v", h)
	}
}

// back waits until the bus says that it works again, once.
func back(t *testing.T, b *redis.Bus, reports <-chan error) {
	t.Helper()
	report(t, reports, false)
	await(t, "the bus is connected", func() bool { return b.Health().Connected })
}

func report(t *testing.T, reports <-chan error, bad bool) {
	t.Helper()
	select {
	case err := <-reports:
		if (err != nil) != bad || bad && !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("got report %v, want trouble: %v", err, bad)
		}
	case <-time.After(patience):
		t.Fatalf("no report, want trouble: %v", bad)
	}
}

// refuses expects what nobody can promise alone to be refused.
func refuses(t *testing.T, b *redis.Bus) {
	t.Helper()
	for name, op := range map[string]func() error{
		"Lease":   func() error { _, err := b.Lease(t.Context(), "k", "a", time.Minute); return err },
		"Release": func() error { return b.Release(t.Context(), "k", "a") },
		"Holder":  func() error { _, err := b.Holder(t.Context(), "k"); return err },
		"Enter":   func() error { _, err := b.Enter(t.Context(), "k", "a", 1, time.Minute); return err },
		"Leave":   func() error { return b.Leave(t.Context(), "k", "a") },
	} {
		if err := op(); !errors.Is(err, bus.ErrUnavailable) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want ErrUnavailable", name, err)
		}
	}
}

// limits expects limits to hold, of this process alone if need be.
func limits(t *testing.T, b *redis.Bus, key string) {
	t.Helper()
	for i := range int64(3) {
		if n, reset, err := b.Count(t.Context(), key, 1, time.Minute); n != i+1 || time.Until(reset) < time.Second || err != nil {
			t.Errorf("Count: got %d, %v, %v, want %d", n, reset, err, i+1)
		}
		if g, err := b.Take(t.Context(), key, 2, time.Hour); g.OK != (i < 2) || err != nil {
			t.Errorf("Take: got %+v, %v, want a token: %v", g, err, i < 2)
		}
	}
}

// heard expects a message, after any that only wake.
func heard(t *testing.T, s *bus.Subscription, want string) {
	t.Helper()
	for {
		select {
		case m := <-s.C():
			if m == nil {
				continue
			}
			if string(m) != want {
				t.Errorf("got %q, want %q", m, want)
			}
			return
		case <-time.After(patience):
			t.Fatalf("no message %q came", want)
		}
	}
}

// lost expects to be told of a loss; what woke for one that was told before does not count.
func lost(t *testing.T, s *bus.Subscription) {
	t.Helper()
	for {
		select {
		case m := <-s.C():
			if m != nil {
				t.Errorf("got %q, want to be told of a loss", m)
			}
			if s.Lost() {
				return
			}
		case <-time.After(patience):
			t.Fatal("nobody said that messages are missing")
		}
	}
}

func send(t *testing.T, b bus.Bus, message string) {
	t.Helper()
	if err := b.Publish(t.Context(), "topic", []byte(message)); err != nil {
		t.Error(err)
	}
}

func tell(t *testing.T, s *redistest.Server, command string) {
	t.Helper()
	var words []any
	for w := range strings.FieldsSeq(command) {
		words = append(words, w)
	}
	if _, err := s.Do(words...); err != nil {
		t.Fatal(err)
	}
}

func TestServerGoneAndBack(t *testing.T) {
	s := redistest.New(t)
	here, reports := open(t, s.Bus())
	there, _ := open(t, s.Bus())
	sub := here.Subscribe("topic")
	defer sub.Close()
	before, err := here.Lease(t.Context(), "lease", "a", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	send(t, there, "from there")
	heard(t, sub, "from there")

	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	lost(t, sub)
	cutOff(t, here, reports, "unreachable")
	refuses(t, here)
	limits(t, here, "k")
	send(t, here, "from here")
	heard(t, sub, "from here")
	later := here.Subscribe("topic") // does not wait
	defer later.Close()

	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	back(t, here, reports)
	lost(t, sub)
	lost(t, later)
	await(t, "the other is connected", func() bool { return there.Health().Connected })
	send(t, there, "again from there")
	heard(t, later, "again from there")
	after, err := here.Lease(t.Context(), "lease", "b", time.Minute)
	if err != nil || after <= before {
		t.Errorf("got the token %d, %v, after %d from a server that has forgotten it", after, err, before)
	}
	limits(t, here, "other") // that of the server, which is empty
	if len(reports) > 0 {
		t.Errorf("got more reports than one of each kind: %v", <-reports)
	}
}

func TestNotThereAtStart(t *testing.T) {
	s := redistest.New(t)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	b, reports := open(t, s.Bus())
	sub := b.Subscribe("topic")
	defer sub.Close()
	cutOff(t, b, reports, "unreachable")
	refuses(t, b)
	limits(t, b, "k")
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	back(t, b, reports)
	lost(t, sub)
	if token, err := b.Lease(t.Context(), "k", "a", time.Minute); token == 0 || err != nil {
		t.Errorf("got %d, %v", token, err)
	}
}

// A server that hangs costs the first callers the time of one operation, and the others nothing.
func TestServerHangs(t *testing.T) {
	s := redistest.New(t)
	settings := s.Bus()
	settings.Timeout = 200 * time.Millisecond
	b, reports := open(t, settings)
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	limits(t, b, "k")
	cutOff(t, b, reports, "timeout")
	refuses(t, b)
	for i := range 100 {
		limits(t, b, fmt.Sprint(i))
	}
	if took := time.Since(begun); took > 50*settings.Timeout {
		t.Errorf("%s were spent on waiting for a server that hangs", took)
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	await(t, "a lease can be taken", func() bool {
		token, err := b.Lease(t.Context(), "k", "a", time.Minute)
		return err == nil && token > 0
	})
}

// Nobody calls, and the silence is noticed all the same.
func TestServerHangsUnnoticed(t *testing.T) {
	s := redistest.New(t)
	settings := s.Bus()
	settings.Timeout = time.Second
	b, _ := open(t, settings)
	sub := b.Subscribe("topic")
	defer sub.Close()
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	lost(t, sub)
	if b.Health().Connected {
		t.Error("connected to a server that hangs")
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	lost(t, sub)
	await(t, "the bus is connected", func() bool { return b.Health().Connected })
}

// TestServerRefuses goes through what makes a server refuse and what ends that.
func TestServerRefuses(t *testing.T) {
	for _, tt := range []struct {
		reason      string
		spoil, mend string
	}{
		{"memory", "config set maxmemory 1", "config set maxmemory 0"},
		{"read_only", "replicaof 127.0.0.1 1", "replicaof no one"},
		{"permission", "acl setuser svc -evalsha -eval", "acl setuser svc +evalsha +eval"},
		{"authentication", "acl setuser svc resetpass", "acl setuser svc >open-sesame"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			s := redistest.New(t, "user svc on >open-sesame ~* &* +@all")
			settings := s.Bus()
			settings.User, settings.Password = "svc", "{env.RIGHT}"
			b, reports := open(t, settings)
			limits(t, b, "before")
			sub := b.Subscribe("topic")
			defer sub.Close()
			tell(t, s, tt.spoil)
			tell(t, s, "client kill user svc") // who is in stays in otherwise
			limits(t, b, "k")
			cutOff(t, b, reports, tt.reason)
			lost(t, sub) // others cannot publish, or are not heard
			limits(t, b, "other")
			refuses(t, b)
			tell(t, s, tt.mend)
			back(t, b, reports)
			if _, err := b.Lease(t.Context(), "k", "a", time.Minute); err != nil {
				t.Error(err)
			}
			if len(reports) > 0 {
				t.Errorf("got more reports than one of each kind: %v", <-reports)
			}
		})
	}
}

func TestWrongPassword(t *testing.T) {
	s := redistest.New(t, "requirepass open-sesame")
	settings := s.Bus()
	settings.Password = "{env.WRONG}"
	b, reports := open(t, settings)
	cutOff(t, b, reports, "authentication")
	refuses(t, b)
	limits(t, b, "k")
	settings.Password = "{env.RIGHT}"
	if b, _ := open(t, settings); !b.Health().Connected {
		t.Errorf("with the right password: got %+v", b.Health())
	}
	settings.Password = "{env.MISSING}"
	if _, err := redis.Open(t.Context(), settings, redis.Options{Env: environment}); err == nil || !strings.Contains(err.Error(), "bus.password: MISSING is not set") {
		t.Errorf("got %v, want an error that names the setting", err)
	}
}

// What was cleared while the server was away stays so: an admin has unlocked somebody.
func TestClearWhileAway(t *testing.T) {
	s := redistest.New(t)
	b, reports := open(t, s.Bus())
	limits(t, b, "k")
	tell(t, s, "config set maxmemory 1") // it keeps what it has
	limits(t, b, "k")
	cutOff(t, b, reports, "memory")
	if err := b.Clear(t.Context(), "k"); err != nil {
		t.Error(err)
	}
	if n, _, err := b.Count(t.Context(), "k", 0, time.Minute); n != 0 || err != nil {
		t.Errorf("got %d, %v after Clear", n, err)
	}
	tell(t, s, "config set maxmemory 0")
	back(t, b, reports)
	if n, _, err := b.Count(t.Context(), "k", 0, time.Minute); n != 0 || err != nil {
		t.Errorf("got %d, %v when the server was back", n, err)
	}
}

// Something foreign in the place of one key is no reason to do without the server.
func TestForeignKey(t *testing.T) {
	s := redistest.New(t)
	b, reports := open(t, s.Bus())
	for _, kind := range []string{"count", "bucket", "room"} {
		tell(t, s, "hset svc:"+kind+":foreign a b")
	}
	limits(t, b, "foreign")
	if _, err := b.Enter(t.Context(), "foreign", "a", 1, time.Minute); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("Enter: got %v, want ErrUnavailable", err)
	}
	if h := b.Health(); !h.Connected {
		t.Errorf("got %+v, want a bus that works", h)
	}
	limits(t, b, "k")
	if n, err := s.Do("get", "svc:count:k"); n != "3" || err != nil {
		t.Errorf("the server has counted %v, %v, want 3", n, err)
	}
	if len(reports) > 0 {
		t.Errorf("got the report %v", <-reports)
	}
}
