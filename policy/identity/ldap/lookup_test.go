package ldap_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

func TestLookup(t *testing.T) {
	server := ldaptest.New(t)
	s := shared(server)
	s.Filter = "(&(uid=%u)(!(employeeType=left)))"
	d := open(t, s)
	bob, err := d.Authenticate(t.Context(), "bob", "bob-password")
	if err != nil {
		t.Fatal(err)
	}
	look := func(what string, want identity.External, wantErr error) {
		t.Helper()
		got, err := d.Lookup(t.Context(), bob.Subject)
		if !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: got error %v, want %v", what, err, wantErr)
			return
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(identity.External{}, "Subject", "Issued")); err == nil && diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	modify := func(ldif string) {
		t.Helper()
		if err := server.Modify(ldif); err != nil {
			t.Fatal(err)
		}
	}
	const groups = ",ou=groups," + ldaptest.BaseDN
	const people = ",ou=people," + ldaptest.BaseDN
	look("unchanged", user("bob", "users"), nil)
	modify("dn: cn=admins" + groups + "\nchangetype: modify\nadd: member\nmember: uid=bob" + people + "\n")
	look("promoted", admin("bob", "admins", "users"), nil)
	modify("dn: uid=bob" + people + "\nchangetype: modrdn\nnewrdn: uid=robert\ndeleteoldrdn: 1\n")
	look("renamed", admin("robert", "admins", "users"), nil)
	modify("dn: uid=robert" + people + "\nchangetype: modrdn\nnewrdn: uid=bob\ndeleteoldrdn: 1\n")
	look("renamed back", admin("bob", "admins", "users"), nil)
	modify("dn: uid=bob" + people + "\nchangetype: modify\nadd: employeeType\nemployeeType: left\n")
	look("not found by the filter any more", identity.External{}, identity.ErrRevoked)
	modify("dn: uid=bob" + people + "\nchangetype: modify\ndelete: employeeType\n")
	modify("dn: uid=bob" + people + "\nchangetype: modify\nadd: pwdAccountLockedTime\npwdAccountLockedTime: 000001010000Z\n")
	look("locked by an admin", identity.External{}, identity.ErrRevoked)
	modify("dn: uid=bob" + people + "\nchangetype: delete\n")
	look("gone", identity.External{}, identity.ErrRevoked)
	modify("dn: uid=bob" + people + "\nchangetype: add\nobjectClass: inetOrgPerson\ncn: Another\nsn: B\nuserPassword: bob-password\n")
	look("another of the same name", identity.External{}, identity.ErrRevoked)
}

// Who logs in with a mail address is found again, although the name here is another one.
func TestLookupByAnotherAttribute(t *testing.T) {
	server := ldaptest.New(t)
	s := shared(server)
	s.Filter = "(mail=%u)"
	d := open(t, s)
	alice, err := d.Authenticate(t.Context(), "alice@example.org", "alice-password")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := d.Lookup(t.Context(), alice.Subject); err != nil || again.Name != "alice" {
		t.Errorf("got %+v, %v", again, err)
	}
	s.Filter = "(uid=%u)"
	bob, err := open(t, s).Authenticate(t.Context(), "bob", "bob-password")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lookup(t.Context(), bob.Subject); !errors.Is(err, identity.ErrRevoked) {
		t.Errorf("somebody without a mail address: got %v, want ErrRevoked", err)
	}
}

func TestLookupOfTemplate(t *testing.T) {
	server := ldaptest.New(t)
	s := shared(server)
	template(&s)
	alone := open(t, s)
	alice, err := alone.Authenticate(t.Context(), "alice", "alice-password")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone.Lookup(t.Context(), alice.Subject); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without an account that searches: got %v, want ErrUnsupported", err)
	}
	s.BindDN = ldaptest.BindDN
	got, err := open(t, s).Lookup(t.Context(), alice.Subject)
	if d := cmp.Diff(admin("alice", "admins", "users"), got, cmpopts.IgnoreFields(identity.External{}, "Subject")); err != nil || d != "" {
		t.Errorf("got error %v (-want +got):\n%s", err, d)
	}
}
