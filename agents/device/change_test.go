package device_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/device/devicetest"
)

const (
	iosLines   = "interface GigabitEthernet1\n description core uplink\nntp server 10.0.0.9\nno ntp server 10.0.0.5\n"
	iosDiff    = "  interface GigabitEthernet1\n-  description uplink\n- ntp server 10.0.0.5\n  interface GigabitEthernet1\n+  description core uplink\n+ ntp server 10.0.0.9\n"
	junosLines = "set system ntp server 10.0.0.9\ndelete system ntp server 10.0.0.5\n"
	junosDiff  = "[edit]\n-  system ntp server 10.0.0.5;\n[edit]\n+  system ntp server 10.0.0.9;\n"
)

// A change is shown, made, looked at and saved, and the same change is none then.
func TestChange(t *testing.T) {
	for _, tt := range []struct{ platform, lines, diff string }{{"ios", iosLines, iosDiff}, {"junos", junosLines, junosDiff}} {
		t.Run(tt.platform, func(t *testing.T) {
			l := newLab(t)
			d := l.add(devicetest.Options{Platform: tt.platform, Name: "edge1", User: true})
			f := l.fleet()
			before := d.Running()
			plan, err := f.Plan(t.Context(), l.list[0], tt.lines)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.diff, plan.Diff); diff != "" {
				t.Errorf("the plan (-want +got):\n%s", diff)
			}
			if d.Running() != before {
				t.Error("planning has changed the device")
			}
			_, err = f.Apply(t.Context(), l.list[0], tt.lines, strings.Replace(tt.diff, "10.0.0.9", "10.0.0.8", 1))
			if !errors.Is(err, device.ErrOther) || d.Running() != before {
				t.Errorf("with another difference: got %v, want %v and no change", err, device.ErrOther)
			}
			done, err := f.Apply(t.Context(), l.list[0], tt.lines, plan.Diff)
			if err != nil {
				t.Fatal(err)
			}
			if !done.Saved {
				t.Error("the change is not saved")
			}
			if diff := cmp.Diff(tt.diff, done.Diff); diff != "" {
				t.Errorf("what was done (-want +got):\n%s", diff)
			}
			contains(t, "the device", d.Running(), "ntp server 10.0.0.9")
			if strings.Contains(d.Running(), "10.0.0.5") {
				t.Errorf("the old server is there still:\n%s", d.Running())
			}
			if _, err := f.Plan(t.Context(), l.list[0], tt.lines); !errors.Is(err, device.ErrNothing) {
				t.Errorf("again: got %v, want %v", err, device.ErrNothing)
			}
		})
	}
}

// A change that is confirmed is made, also when the device closes the connection afterwards.
func TestClosedAfterAChange(t *testing.T) {
	l := newLab(t)
	d := l.add(devicetest.Options{Platform: "junos", Name: "core1", Fault: devicetest.CloseAfter})
	done, err := l.fleet().Apply(t.Context(), l.list[0], junosLines, junosDiff)
	if err != nil || !done.Saved {
		t.Errorf("got %+v, %v, want a change that is saved", done, err)
	}
	contains(t, "the device", d.Running(), "ntp server 10.0.0.9")
}

// What comes out otherwise is taken back, or said to be left.
func TestTakenBack(t *testing.T) {
	for _, tt := range []struct {
		name, platform string
		fault          devicetest.Fault
		lines, diff    string
		want           error
		told           string
		same           bool // the configuration is as before
	}{
		{"a line is not taken", "ios", "", "ntp server 10.0.0.9\nbogus line", "+ ntp server 10.0.0.9\n+ bogus line\n", device.ErrUndone, `the line "bogus line": ^ % Invalid input`, true},
		{"nothing happens", "ios", devicetest.IgnoreChange, iosLines, iosDiff, device.ErrUndone, "the device did something else", true},
		{"more happens", "ios", devicetest.ChangeMore, iosLines, iosDiff, device.ErrUndone, "+ ip http server", true},
		{"more happens and stays", "ios", devicetest.StickyChange, "ntp server 10.0.0.9", "+ ntp server 10.0.0.9\n", device.ErrLeft, "what is left of it, and is not saved:\n+ ntp server 10.0.0.9\n+ ip http server", false},
		{"a line is not taken", "junos", "", "set nonsense", "+", device.ErrRefused, "syntax error", true},
		{"the commit fails", "junos", devicetest.CommitFails, junosLines, junosDiff, device.ErrUndone, "constraint check failed", true},
		{"more happens", "junos", devicetest.ChangeMore, junosLines, junosDiff, device.ErrUndone, "+  system services telnet", true},
	} {
		t.Run(tt.platform+": "+tt.name, func(t *testing.T) {
			l := newLab(t)
			d := l.add(devicetest.Options{Platform: tt.platform, Name: "edge1", Fault: tt.fault})
			before := d.Running()
			_, err := l.fleet().Apply(t.Context(), l.list[0], tt.lines, tt.diff)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			contains(t, "the error", fmt.Sprint(err), tt.told)
			if now := d.Running(); tt.same && !sameLines(before, now) {
				t.Errorf("the configuration is not as it was (-want +got):\n%s", cmp.Diff(before, now))
			}
			if d.Saved() {
				t.Error("it was saved")
			}
		})
	}
}

// Where a device does not answer when it commits, nobody is told that it has or has not.
func TestUnsure(t *testing.T) {
	for _, tt := range []struct {
		fault devicetest.Fault
		told  string
	}{
		{devicetest.CloseCommit, "commit confirmed was sent, and then: it closed the connection. If the device has committed, it takes that back after 2 minutes by itself: look then, with show system commit"},
		{devicetest.SilentCommit, `commit confirmed was sent, and then: it said "[edit]" to commit confirmed 2.`},
		{devicetest.CloseConfirm, "the commit that confirms it was sent, and then: it closed the connection. If that did not arrive, the device takes the change back after 2 minutes by itself"},
	} {
		t.Run(string(tt.fault), func(t *testing.T) {
			l := newLab(t)
			l.add(devicetest.Options{Platform: "junos", Name: "core1", Fault: tt.fault})
			_, err := l.fleet().Apply(t.Context(), l.list[0], junosLines, junosDiff)
			if !errors.Is(err, device.ErrUnsure) || errors.Is(err, device.ErrUndone) {
				t.Errorf("got %v, want %v", err, device.ErrUnsure)
			}
			contains(t, "the error", fmt.Sprint(err), tt.told)
		})
	}
}

// What cannot be taken back is not confirmed instead.
func TestNotConfirmed(t *testing.T) {
	l := newLab(t)
	d := l.add(devicetest.Options{Platform: "junos", Name: "core1", Fault: devicetest.NoRollback})
	_, err := l.fleet().Apply(t.Context(), l.list[0], junosLines, junosDiff)
	contains(t, "the error", fmt.Sprint(err), "the device takes the change back after 2 minutes by itself")
	if errors.Is(err, device.ErrUndone) || slices.Contains(d.Commands(), "commit") {
		t.Errorf("got %v, and the commands %q", err, d.Commands())
	}
}

// sameLines compares configurations without the order of their lines.
func sameLines(a, b string) bool {
	sorted := func(s string) map[string]bool {
		m := map[string]bool{}
		for line := range strings.Lines(s) {
			m[line] = true
		}
		return m
	}
	return cmp.Equal(sorted(a), sorted(b))
}

// Lines that are no configuration are refused before anything is sent.
func TestBadLines(t *testing.T) {
	l := newLab(t)
	ios := l.add(devicetest.Options{Platform: "ios", Name: "edge1"})
	junos := l.add(devicetest.Options{Platform: "junos", Name: "core1"})
	f := l.fleet()
	for _, tt := range []struct {
		at          int
		lines, want string
	}{
		{0, "", "there is no line"},
		{0, "ntp server 1\x1a", "printable ASCII"},
		{0, "exit\nreload", `"exit" is no line of a configuration`},
		{0, "do write erase", `"do write erase" is no line of a configuration`},
		{0, "conf t", `"conf t" is no line`},
		{0, "ntp server ?", "question mark"},
		{0, "delete bootflash:x no-prompt", "is no line of a configuration"},
		{0, "clear bgp *", "is no line of a configuration"},
		{0, "bash sudo reboot", "is no line of a configuration"},
		{0, "run bash reboot", "is no line of a configuration"},
		{0, "guestshell run reboot", "is no line of a configuration"},
		{0, "erase startup-config", "is no line of a configuration"},
		{0, "relo", "is no line of a configuration"},
		{0, "EXI", "is no line of a configuration"},
		{0, "interface GigabitEthernet1\n wr mem", "is no line of a configuration"},
		{0, "show run", "is no line of a configuration"},
		{0, "tac-pac bootflash:", "is no line of a configuration"},
		{0, "system switchover", "is no line of a configuration"},
		{0, "ntp server 10.0.0.1 > bootflash:x", "has | or > in it"},
		{0, "ntp server 10.0.0.1 | tee x", "has | or > in it"},
		{0, "interface GigabitEthernet1\n description core | edge", "has | or > in it"},
		{0, "ip as-path access-list 1 permit ^(65000|65001)$ | tee x", "has | or > in it"},
		{0, "ip as-path access-list 1 permit ^65000$|tee", "has | or > in it"},
		{0, "ip as-path access-list 1|2 permit ^65000$", "has | or > in it"},
		{0, "ip as-path access-list 1 permit ^65000$ > 1", "has | or > in it"},
		{0, "ip as-path access-list 1 permit ^65000 | 1", "has | or > in it"},
		{0, "ip as-path access-list 1 permit ^(65000|65001)?$", "question mark"},
		{0, "x1\n x2\n  x3\n   x4\n    x5\n     x6\n      x7", "too many sections"},
		{1, "commit", `"commit" is no line for Junos`},
		{1, "delete", "is for the whole configuration"},
		{1, "delete ", "is for the whole configuration"},
		{1, "run request system reboot", "is no line for Junos"},
		{1, "system {\n  ntp;\n}", "is no line for Junos"},
	} {
		_, err := f.Plan(t.Context(), l.list[tt.at], tt.lines)
		contains(t, tt.lines, fmt.Sprint(err), tt.want)
	}
	if n := len(ios.Commands()) + len(junos.Commands()); n != 0 {
		t.Errorf("got %d lines at the devices, want none", n)
	}
}

// A | between numbers is a sign of a regular expression.
func TestExpressions(t *testing.T) {
	l := newLab(t)
	l.add(devicetest.Options{Platform: "ios", Name: "edge1"})
	const lines = "ip as-path access-list 1 permit ^(65000|65001)$\nip as-path access-list 1 seq 20 permit \"_(65000_|65001_)*$\" any\nip community-list expanded X-1 deny 6500[0-9]:(1|20)\n"
	plan, err := l.fleet().Plan(t.Context(), l.list[0], lines)
	if err != nil {
		t.Fatal(err)
	}
	done, err := l.fleet().Apply(t.Context(), l.list[0], lines, plan.Diff)
	if err != nil {
		t.Fatal(err)
	}
	if want := "+ " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n+ ") + "\n"; done.Diff != want {
		t.Errorf("got %q, want %q", done.Diff, want)
	}
}

// A secret in a change is shown to nobody, and does not keep the change from being the one that was shown:
// who plans the removal of a line reads nothing that the line itself would not show.
func TestSecretInChange(t *testing.T) {
	for _, tt := range []struct{ name, platform, lines, want string }{
		{"community", "ios", "no snmp-server community s3cretCommunity\nsnmp-server community 0therCommunity RO", "- snmp-server community REDACTED RO\n+ snmp-server community REDACTED RO\n"},
		{"first word", "ios", "no tacacs-server key", "- tacacs-server key REDACTED\n"},
		{"section", "ios", "radius server ise\n no key\n key 0therRadiusKey1", "  radius server ise\n-  key REDACTED\n+  key REDACTED\n"},
		{"from the device", "junos", "delete system tacplus-server", "[edit]\n-  system tacplus-server 10.0.0.7 secret \"REDACTED\";\n"},
	} {
		t.Run(tt.platform+": "+tt.name, func(t *testing.T) {
			l := newLab(t)
			d := l.add(devicetest.Options{Platform: tt.platform, Name: "edge1"})
			before := d.Running()
			f := l.fleet()
			plan, err := f.Plan(t.Context(), l.list[0], tt.lines)
			if diff := cmp.Diff(tt.want, plan.Diff); err != nil || diff != "" {
				t.Fatalf("the plan: %v (-want +got):\n%s", err, diff)
			}
			_, err = f.Apply(t.Context(), l.list[0], tt.lines, "- ntp server 10.0.0.5\n")
			contains(t, "with another difference", fmt.Sprint(err), strings.TrimSpace(tt.want))
			if !errors.Is(err, device.ErrOther) || d.Running() != before {
				t.Errorf("with another difference: got %v, want %v and no change", err, device.ErrOther)
			}
			done, err := f.Apply(t.Context(), l.list[0], tt.lines, plan.Diff)
			if diff := cmp.Diff(tt.want, done.Diff); err != nil || diff != "" {
				t.Errorf("what was done: %v (-want +got):\n%s", err, diff)
			}
			if sameLines(before, d.Running()) {
				t.Error("nothing has changed")
			}
		})
	}
}

// Who plans a change keeps nobody from changing the device: the candidate is a private one.
func TestPlanIsPrivate(t *testing.T) {
	l := newLab(t)
	d := l.add(devicetest.Options{Platform: "junos", Name: "core1"})
	if _, err := l.fleet().Plan(t.Context(), l.list[0], "set system ntp server 10.0.0.77"); err != nil {
		t.Fatal(err)
	}
	if got := d.Commands(); !slices.Contains(got, "configure private") || slices.Contains(got, "configure exclusive") {
		t.Errorf("got %q", got)
	}
}
