package ldap_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/ldap"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// technical fails unless err says nothing about the user and has the text in it.
func technical(t *testing.T, err error, text string) {
	t.Helper()
	for _, about := range []error{identity.ErrCredentials, identity.ErrNoRole, identity.ErrRevoked} {
		if errors.Is(err, about) {
			t.Errorf("got %v, want a technical error", err)
		}
	}
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %v, want one with %q", err, text)
	}
}

func TestTechnicalErrors(t *testing.T) {
	server, other := ldaptest.New(t), ldaptest.New(t)
	for _, tt := range []struct {
		name, want string
		change     change
	}{
		{"wrong authority", "certificate signed by unknown authority", func(s *settings.LDAP) { s.CAFile = other.CAFile }},
		{"wrong authority, ldaps", "certificate signed by unknown authority", func(s *settings.LDAP) { s.CAFile, s.URL = other.CAFile, []string{server.TLSURL} }},
		{"the system's authorities", "certificate signed by unknown authority", func(s *settings.LDAP) { s.CAFile = "" }},
		{"another host's certificate", "certificate is not valid for any names, but wanted to match localhost", func(s *settings.LDAP) {
			s.URL = []string{strings.Replace(server.URL, "127.0.0.1", "localhost", 1)}
		}},
		{"encrypted port taken for a plain one", "", func(s *settings.LDAP) { s.URL = []string{strings.Replace(server.TLSURL, "ldaps", "ldap", 1)} }},
		{"plain port taken for an encrypted one", "", func(s *settings.LDAP) { s.URL = []string{strings.Replace(server.URL, "ldap", "ldaps", 1)} }},
		{"account that searches", "Invalid Credentials", func(s *settings.LDAP) { s.BindDN = "cn=other," + ldaptest.BaseDN }},
		{"base that is not there", "searching below ou=nowhere", func(s *settings.LDAP) { s.BaseDN = "ou=nowhere," + ldaptest.BaseDN }},
		{"group base that is not there", "finding groups: below ou=nowhere", func(s *settings.LDAP) { member(s); s.GroupBaseDN = "ou=nowhere," + ldaptest.BaseDN }},
		{"referral", "the server refers to another one, which is not followed", func(s *settings.LDAP) { s.BaseDN = "ou=elsewhere," + ldaptest.BaseDN }},
		{"no such name attribute", "has no attribute employeeNumber: set ldap.name_attribute", func(s *settings.LDAP) { s.NameAttribute = "employeeNumber" }},
		{"no such id attribute", "has no attribute nsUniqueId: set ldap.id_attribute", func(s *settings.LDAP) { s.IDAttribute = "nsUniqueId" }},
		{"nobody there", "connection refused", func(s *settings.LDAP) { s.URL = []string{"ldap://127.0.0.1:1"} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := shared(server)
			tt.change(&s)
			_, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password")
			technical(t, err, tt.want)
		})
	}
	// A place where more could be found does not hide what was found.
	s := shared(server)
	whole(&s)
	if _, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password"); err != nil {
		t.Errorf("a search that passes a referral: %v", err)
	}
}

func TestInClearAndEncrypted(t *testing.T) {
	server := ldaptest.New(t)
	s := shared(server)
	s.URL = []string{server.TLSURL}
	if _, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password"); err != nil {
		t.Errorf("ldaps: %v", err)
	}
	s.URL, s.Insecure, s.CAFile = []string{server.URL}, true, ""
	if _, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password"); err != nil {
		t.Errorf("in clear: %v", err)
	}
}

// A server that began to hang is left at once, with all connections to it.
func TestHangingServerIsLeft(t *testing.T) {
	hanging, server := ldaptest.New(t), ldaptest.New(t)
	s := shared(hanging)
	pem, err := os.ReadFile(server.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	both, err := os.ReadFile(hanging.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	s.CAFile = filepath.Join(t.TempDir(), "both.pem")
	if err := os.WriteFile(s.CAFile, append(both, pem...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.URL, s.Timeout = []string{hanging.URL, server.URL}, 4*time.Second
	d := open(t, s)
	authenticate := func() error {
		_, err := d.Authenticate(t.Context(), "alice", "alice-password")
		return err
	}
	var warm sync.WaitGroup
	for range s.Pool {
		warm.Go(func() {
			if err := authenticate(); err != nil {
				t.Error(err)
			}
		})
	}
	warm.Wait()
	if err := hanging.Pause(); err != nil {
		t.Fatal(err)
	}
	technical(t, authenticate(), "no answer in time")
	for range s.Pool {
		if err := authenticate(); err != nil {
			t.Errorf("with another server there: %v", err)
		}
	}
}

// A directory that hangs is waited for until the deadline, and is no worse than one that is gone.
func TestHangingAndBack(t *testing.T) {
	server := ldaptest.New(t)
	s := shared(server)
	s.Timeout = 2 * time.Second
	d := open(t, s)
	authenticate := func() error {
		_, err := d.Authenticate(t.Context(), "alice", "alice-password")
		return err
	}
	if err := authenticate(); err != nil {
		t.Fatal(err)
	}
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	var waiting sync.WaitGroup
	for range 20 { // more than there are connections
		waiting.Go(func() {
			if err := authenticate(); err == nil || errors.Is(err, identity.ErrCredentials) {
				t.Errorf("got %v, want a technical error", err)
			}
		})
	}
	waiting.Wait()
	if took := time.Since(begun); took > 20*s.Timeout {
		t.Errorf("took %v, want about %v", took, s.Timeout)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	await(t, authenticate)

	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	technical(t, authenticate(), "connection refused")
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	if err := authenticate(); err != nil { // at once: there is only this one
		t.Errorf("back again: %v", err)
	}
}

// await repeats f until it succeeds.
func await(t *testing.T, f func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("not in time: %v", err)
		}
	}
}

// Connections that the server closed meanwhile are replaced without anybody noticing.
func TestRestartBetweenLooks(t *testing.T) {
	server := ldaptest.New(t)
	d := open(t, shared(server))
	for range 3 {
		if _, err := d.Authenticate(t.Context(), "alice", "alice-password"); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(server.Stop(), server.Run()); err != nil {
			t.Fatal(err)
		}
	}
}

// One that does not answer is asked once, and then after the others for a while.
func TestServersInTurn(t *testing.T) {
	server := ldaptest.New(t)
	silent, connections := hostile(t, nil)
	s := shared(server)
	s.URL, s.Timeout = []string{"ldap://127.0.0.1:1", silent, server.URL}, 4*time.Second
	var troubles []string
	d, err := ldap.New(s, ldaptest.BindPassword, func(server string, err error) { troubles = append(troubles, server) })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := d.Authenticate(t.Context(), "alice", "alice-password"); err != nil {
			t.Fatal(err)
		}
		d.Close() // connections are made anew from now on
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("the silent server was asked %d times, want once", n)
	}
	if d := cmp.Diff(s.URL[:2], troubles); d != "" {
		t.Errorf("troubles were told (-want +got):\n%s", d)
	}
}

func TestCancelled(t *testing.T) {
	url, _ := hostile(t, nil)
	s := shared(&ldaptest.Server{URL: url})
	s.Timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	begun := time.Now()
	_, err := open(t, s).Authenticate(ctx, "alice", "alice-password")
	technical(t, err, "")
	if took := time.Since(begun); took > s.Timeout/2 {
		t.Errorf("took %v after the caller had gone", took)
	}
}

var _ identity.Directory = (*ldap.Directory)(nil)
