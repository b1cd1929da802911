package main

import (
	"net"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/settings"
)

// A socket that a killed process left is not the admin API of the one that runs now, which has it on Caddy's port.
func TestReloadUsesTheSocketOfTheRunningServiceOnly(t *testing.T) {
	h, _, _ := starting(t)
	t.Setenv("CADDY_ADMIN", "")
	release, err := app.Claim(h, settings.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := caddy.Load([]byte(`{"admin": {"disabled": true}, "logging": {"logs": {"default": {"level": "ERROR"}}}, "apps": {"svc": {}}}`), true); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = caddy.Stop() }()
	defer func(was string) { caddy.DefaultAdminListen = was }(caddy.DefaultAdminListen)
	const port = "localhost:2019"
	reload := func() string {
		t.Helper()
		caddy.DefaultAdminListen = port
		var cmd cobra.Command
		cmd.SetContext(t.Context())
		cmd.PreRunE = func(*cobra.Command, []string) error { return nil }
		keepListening(&cmd)
		if err := cmd.PreRunE(&cmd, nil); err != nil {
			t.Fatal(err)
		}
		return caddy.DefaultAdminListen
	}

	ln, err := net.Listen("unix", h.AdminSocket())
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	if got, want := reload(), "unix/"+h.AdminSocket()+"|0600"; got != want {
		t.Errorf("with somebody who listens: got %s, want %s", got, want)
	}
	ln.Close()
	if got := reload(); got != port {
		t.Errorf("with a stale socket: got %s, want %s", got, port)
	}
}
