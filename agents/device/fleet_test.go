package device_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/device/devicetest"
)

// What devices say comes whole, without their prompts, pagers and secrets.
func TestCommand(t *testing.T) {
	l := newLab(t)
	l.add(devicetest.Options{Platform: "ios", Name: "edge1"})
	l.add(devicetest.Options{Platform: "ios", Name: "edge2", User: true})
	l.add(devicetest.Options{Platform: "junos", Name: "core1"})
	f := l.fleet()
	for _, tt := range []struct {
		at            int
		command, want string
	}{
		{0, "show version", "Cisco IOS XE Software, Version 17.09.04a\nedge1 uptime is 5 weeks"},
		{1, "show version", "Cisco IOS XE Software, Version 17.09.04a\nedge2 uptime is 5 weeks"},
		{2, "show version", "Hostname: core1\nModel: mx204\nJunos: 22.4R3"},
	} {
		got := f.Command(t.Context(), l.list[tt.at:tt.at+1], tt.command, nil)[0]
		if got.Err != nil {
			t.Errorf("%s: %v", tt.command, got.Err)
		}
		if diff := cmp.Diff(tt.want, got.Output); diff != "" {
			t.Errorf("%s on %s (-want +got):\n%s", tt.command, l.list[tt.at].Name, diff)
		}
	}
	for at, command := range []string{"show logging", "show logging", "show log messages"} {
		got := f.Command(t.Context(), l.list[at:at+1], command, nil)[0]
		if lines := strings.Count(got.Output, "LINK-3-UPDOWN"); got.Err != nil || lines != 100 || strings.Contains(got.Output, "ore") {
			t.Errorf("%s: got %d lines of 100, %v, or a pager:\n%s", command, lines, got.Err, got.Output)
		}
	}
	got := f.Command(t.Context(), l.list[:1], "show running-config", nil)[0]
	if got.Err != nil || strings.Contains(got.Output, "s3cretCommunity") || strings.Contains(got.Output, "$9$") {
		t.Errorf("got %v and secrets in\n%s", got.Err, got.Output)
	}
	got = f.Command(t.Context(), l.list[:1], "show nonsense", nil)[0]
	if !errors.Is(got.Err, device.ErrRefused) {
		t.Errorf("got %v, want %v", got.Err, device.ErrRefused)
	}
	contains(t, "the output", got.Output, "% Invalid input")
}

// A device that does anything wrong has an error of its own, in time, and the others have their answers.
func TestFaults(t *testing.T) {
	l := newLab(t)
	for _, platform := range []string{"ios", "junos"} {
		for _, fault := range []devicetest.Fault{
			devicetest.Mute, devicetest.HangPassword, devicetest.HangCommand, devicetest.CloseMiddle, devicetest.PageForever, devicetest.Flood, devicetest.OneLine, "",
		} {
			l.add(devicetest.Options{Platform: platform, Name: platform + "-" + string(fault) + "x", Fault: fault})
		}
	}
	l.add(devicetest.Options{Platform: "ios", Name: "hang-enable", Fault: devicetest.HangEnable, User: true})
	gone := l.add(devicetest.Options{Platform: "ios", Name: "gone"})
	gone.Close()
	stranger := l.list[0]
	stranger.Name, stranger.Platform = "stranger", "vxworks"
	l.list = append(l.list[:len(l.list):len(l.list)], stranger)
	// What hangs must hang longer than what answers takes on a slow machine.
	f := l.fleet(func(c *device.Config) { c.Timeout = 12 * time.Second })
	want := map[string]string{
		"mute": "it did not answer in time", "hang-password": "it did not answer in time", "hang-command": "it did not answer in time",
		"close-middle": "it closed the connection", "page-forever": "it did not answer in time", "flood": "it sends more than is read", "one-line": "it sends more than is read",
		"hang-enable": "it did not answer in time", "gone": "nothing answers at 127.0.0.1:", "stranger": `its platform "vxworks" is none that commands can be run on`,
	}
	for _, o := range f.Command(t.Context(), l.list, "show version", nil) {
		name := o.Device.Name
		for _, cut := range []string{"ios-", "junos-"} {
			name = strings.TrimPrefix(name, cut)
		}
		text, bad := want[strings.TrimSuffix(name, "x")]
		switch {
		case !bad && (o.Err != nil || o.Output == ""):
			t.Errorf("%s: got %v and %q", o.Device.Name, o.Err, o.Output)
		case bad && (o.Err == nil || !strings.Contains(o.Err.Error(), text)):
			t.Errorf("%s: got %v, want %s", o.Device.Name, o.Err, text)
		}
		if len(o.Output) > 256<<10 {
			t.Errorf("%s: got %d bytes", o.Device.Name, len(o.Output))
		}
	}
}

// A prompt within the output ends nothing.
func TestFakePrompt(t *testing.T) {
	l := newLab(t)
	d := l.add(devicetest.Options{Platform: "ios", Name: "edge1", Fault: devicetest.FakePrompt})
	got := l.fleet().Command(t.Context(), l.list, "show version", nil)[0]
	contains(t, "the output", got.Output, "edge1#reload\nCisco IOS XE")
	if got.Err != nil || strings.Contains(strings.Join(d.Commands(), "\n"), "reload") {
		t.Errorf("got %v and %q", got.Err, d.Commands())
	}
}

// A question is answered with what was given, and with nothing else.
func TestAnswers(t *testing.T) {
	l := newLab(t)
	l.add(devicetest.Options{Platform: "ios", Name: "edge1"})
	f := l.fleet()
	got := f.Command(t.Context(), l.list, "reload", nil)[0]
	contains(t, "without an answer", fmt.Sprint(got.Err), `it asks "Proceed with reload? [confirm]", and nothing was answered`)
	got = f.Command(t.Context(), l.list, "reload", []string{""})[0]
	contains(t, "with an answer", fmt.Sprint(got.Err), "it closed the connection")
}

// No password goes to a device with another host key, or with one that nobody has pinned.
func TestHostKeys(t *testing.T) {
	l := newLab(t)
	d := l.add(devicetest.Options{Platform: "ios", Name: "edge1"})
	old := d.Key()
	if err := d.Rekey(); err != nil {
		t.Fatal(err)
	}
	f := l.fleet()
	got := f.Command(t.Context(), l.list, "show version", nil)[0]
	contains(t, "another key", fmt.Sprint(got.Err), "is not the pinned one, and nothing was sent to it")
	l.keys = newLab(t).keys
	got = l.fleet().Command(t.Context(), l.list, "show version", nil)[0]
	contains(t, "no key", fmt.Sprint(got.Err), "nobody has pinned the host key of 127.0.0.1:")
	if n := d.Logins(); n != 0 {
		t.Errorf("got %d passwords, want none", n)
	}
	key, err := f.HostKey(t.Context(), l.list[0])
	if err != nil || string(key.Marshal()) != string(d.Key().Marshal()) {
		t.Fatalf("got %v %v, want the device's key", key, err)
	}
	if err := l.keys.Pin(l.list[0].Endpoint(), old); err != nil {
		t.Fatal(err)
	}
	if err := l.keys.Pin(l.list[0].Endpoint(), key); err != nil {
		t.Fatal(err)
	}
	if got = l.fleet().Command(t.Context(), l.list, "show version", nil)[0]; got.Err != nil {
		t.Errorf("with the new key pinned: %v", got.Err)
	}
	if err := l.keys.Check(l.list[0].Endpoint(), old); err == nil {
		t.Error("the old key is pinned still")
	}
}

// A wrong password, a login for other devices, and none are told apart.
func TestLogins(t *testing.T) {
	l := newLab(t)
	l.add(devicetest.Options{Platform: "ios", Name: "edge1", User: true})
	login := device.Login{Name: "x", User: devicetest.User, Password: "wrong", Devices: []string{"CORE"}}
	for _, tt := range []struct {
		name   string
		change func(*device.Login)
		want   string
	}{
		{"wrong", func(*device.Login) {}, "the device refuses the login x (user netops)"},
		{"for another", func(l *device.Login) { l.Devices = []string{"edge2", "site:edge1"} }, "no login is set up for it"},
		{"enable is wrong", func(l *device.Login) { l.Password, l.Enable = devicetest.Password, "no" }, "it refuses the password of enable of the login x"},
		{"by name", func(l *device.Login) { l.Password, l.Devices = devicetest.Password, []string{"EDGE1"} }, "<nil>"},
	} {
		l2 := login
		tt.change(&l2)
		got := l.fleet(func(c *device.Config) { c.Logins = []device.Login{l2} }).Command(t.Context(), l.list, "show version", nil)[0]
		contains(t, tt.name, fmt.Sprint(got.Err), tt.want)
	}
	if s := fmt.Sprintf("%v %+v %#v", login, login, login); strings.Contains(s, "wrong") {
		t.Errorf("a password prints itself: %s", s)
	}
}

// No more devices are talked to at once than may be; those whose turn does not come are told of.
func TestTurns(t *testing.T) {
	l := newLab(t)
	for i := range 3 {
		l.add(devicetest.Options{Platform: "ios", Name: fmt.Sprint("edge", i), Fault: devicetest.HangCommand})
	}
	f := l.fleet(func(c *device.Config) { c.Parallel, c.Timeout = 1, 2*time.Second })
	begun, took := time.Now(), time.Duration(0)
	for _, o := range f.Command(t.Context(), l.list, "show version", nil) {
		if o.Err == nil || !strings.HasSuffix(o.Err.Error(), "it did not answer in time") {
			t.Errorf("%s: got %v", o.Device.Name, o.Err)
		}
		took += o.Took
	}
	if all := time.Since(begun); all < took*9/10 {
		t.Errorf("got %s for all, want those that they took one after the other, %s", all, took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	last := f.Command(ctx, l.list, "show version", nil)[2]
	contains(t, "the last one", fmt.Sprint(last.Err), "its turn did not come in time")
}

// BenchmarkFleet is 50 devices that each take a second and a half for every line, the slowest two.
func BenchmarkFleet(b *testing.B) {
	l := &lab{keys: device.OpenKeys(b.TempDir() + "/known_hosts")}
	for i := range 50 {
		delay := 500 * time.Millisecond
		if i == 17 {
			delay = time.Second
		}
		l.addTo(b, devicetest.Options{Platform: "ios", Name: fmt.Sprint("edge", i), Delay: delay})
	}
	for b.Loop() {
		f := l.fleet()
		begun := time.Now()
		var slowest time.Duration
		for _, o := range f.Command(b.Context(), l.list, "show version", nil) {
			if o.Err != nil {
				b.Fatal(o.Device.Name, o.Err)
			}
			if o.Device.Name == "edge17" {
				slowest = o.Took
			}
		}
		alone := time.Now()
		if o := f.Command(b.Context(), l.list[17:18], "show version", nil)[0]; o.Err != nil {
			b.Fatal(o.Err)
		}
		b.ReportMetric(float64(alone.Sub(begun).Milliseconds()), "ms-all")
		b.ReportMetric(float64(slowest.Milliseconds()), "ms-slowest")
		b.ReportMetric(float64(time.Since(alone).Milliseconds()), "ms-slowest-alone")
	}
}
