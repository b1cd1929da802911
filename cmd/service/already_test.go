package main

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/internal/tcpport"
)

// starting returns a data folder that this process uses, and a command with its output.
func starting(t *testing.T) (settings.Home, *cobra.Command, *bytes.Buffer) {
	t.Helper()
	h := testHome(t)
	t.Setenv("SVC_HOME", h.Dir())
	cmd, out := new(cobra.Command), new(bytes.Buffer)
	cmd.SetContext(t.Context())
	cmd.SetOut(out)
	return h, cmd, out
}

// TestSettleFindsTheOther starts a service while another start waits for what becomes of it.
func TestSettleFindsTheOther(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    startOptions
		said string
		err  string
	}{
		{"same", startOptions{}, "Nothing to do: the service was already running.\nThe service is running, pid ", ""},
		{"other flags", startOptions{port: "1024"}, "", "stop it with service web stop to start it with --port 1024"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, cmd, out := starting(t)
			release, err := app.Claim(h, settings.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = caddy.Stop() })
			loaded := make(chan error, 1)
			asked := make(chan struct{})
			go func() {
				<-asked
				loaded <- caddy.Load([]byte(`{"admin": {"disabled": true}, "logging": {"logs": {"default": {"level": "ERROR"}}}, "apps": {"svc": {}}}`), true)
			}()
			if running, err := tt.o.already(cmd, h); running || err != nil {
				t.Errorf("a service that is starting: got running %v, %v", running, err)
			}
			close(asked)
			running, err := tt.o.settle(cmd, h, func() error { return errTaken })
			if err := <-loaded; err != nil {
				t.Fatal(err)
			}
			release()
			if !running || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got running %v, %v, want the running service and %q", running, err, tt.err)
			}
			if !strings.HasPrefix(out.String(), tt.said) {
				t.Errorf("got %q, want %q", out.String(), tt.said)
			}
		})
	}
}

func TestSettleReportsTheCheck(t *testing.T) {
	h, cmd, _ := starting(t)
	failure := errors.New("another reason")
	if running, err := (startOptions{}).settle(cmd, h, func() error { return failure }); running || !errors.Is(err, failure) {
		t.Errorf("got running %v, %v, want the error at once", running, err)
	}

	ln, err := net.Listen("tcp", tcpport.ForTest(t).Addr()) // which is nobody else's when ln is closed
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	check := func() error { return try(ln.Addr().String()) }
	if running, err := (startOptions{}).settle(cmd, h, check); running || !errors.Is(err, errTaken) {
		t.Errorf("got running %v, %v, want that the port is taken", running, err)
	}

	looks := 0
	instant := func() error { // another start that looks whether the port is free
		if looks++; looks == 2 {
			ln.Close()
		}
		return check()
	}
	if running, err := (startOptions{}).settle(cmd, h, instant); running || err != nil || looks != 2 {
		t.Errorf("got running %v, %v after %d looks, want a free port after 2", running, err, looks)
	}
}

func TestStrayVariablesAreToldOf(t *testing.T) {
	starting(t)
	t.Setenv("SVC_AUTH_MODES", "token")
	const want = "Warning: SVC_AUTH_MODES is not a setting; did you mean SVC_AUTH_MODE?\n"
	var start bytes.Buffer
	if _, _, _, err := (startOptions{}).prepare(&start); err != nil || !strings.Contains(start.String(), want) {
		t.Errorf("web start: got %q, %v, want %q", start.String(), err, want)
	}
	show := newRoot()
	var out, told bytes.Buffer
	show.SetOut(&out)
	show.SetErr(&told)
	show.SetArgs([]string{"config", "show", "--json"})
	if err := show.Execute(); err != nil || !strings.Contains(told.String(), want) {
		t.Errorf("config show: got %q, %v, want %q", told.String(), err, want)
	}
	if !strings.HasPrefix(out.String(), "{") {
		t.Errorf("config show --json: got %q", out.String())
	}
}
