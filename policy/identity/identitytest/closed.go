package identitytest

import (
	"errors"
	"testing"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// closed asks every method for its word on a storage that is not there: the one trouble that any
// implementation can be brought into.
func closed(t *testing.T, s identity.Store) {
	apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}, NewTokens: []identity.NewToken{token("bob", "b1")}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	errs := map[string]error{}
	_, errs["Revision"] = s.Revision(ctx)
	_, errs["ByHash"] = s.ByHash(ctx, token("bob", "b1").Hash)
	_, errs["ByID"] = s.ByID(ctx, "b1")
	_, errs["ByName"] = s.ByName(ctx, "bob")
	_, errs["ByLink"] = s.ByLink(ctx, identity.Link{Source: "ldap", Subject: "1"})
	_, _, errs["Accounts"] = s.Accounts(ctx, identity.Filter{})
	_, errs["OldTokens"] = s.OldTokens(ctx, epoch, epoch, 1)
	_, errs["Apply"] = s.Apply(ctx, identity.Change{Revision: 1, Users: []identity.User{user("eve", policy.User)}})
	_, errs["AddAccount"] = s.AddAccount(ctx, external("x", "1"))
	errs["Touch"] = s.Touch(ctx, identity.Used{})
	_, errs["SessionByHash"] = s.SessionByHash(ctx, identity.Hash{1})
	_, errs["SessionByID"] = s.SessionByID(ctx, "s1")
	_, errs["Sessions"] = s.Sessions(ctx, identity.SessionFilter{}, epoch)
	_, errs["OpenSession"] = s.OpenSession(ctx, session("bob", "s1", epoch), 1)
	_, errs["RenewSession"] = s.RenewSession(ctx, session("bob", "s1", epoch))
	errs["PruneSessions"] = s.PruneSessions(ctx, epoch)
	_, errs["Standing"] = s.Standing(ctx, "bob", "192.0.2.1")
	_, errs["Lockouts"] = s.Lockouts(ctx, epoch)
	errs["PutLockout"] = s.PutLockout(ctx, identity.Lockout{User: "bob", Since: epoch, Until: epoch}, epoch)
	errs["RemoveLockouts"] = s.RemoveLockouts(ctx, identity.Lockout{User: "bob"})
	_, _, errs["Familiar"] = s.Familiar(ctx, "bob", "192.0.2.1")
	errs["NoteFamiliar"] = s.NoteFamiliar(ctx, "bob", "192.0.2.1", epoch, epoch)
	for name, err := range errs {
		if !errors.Is(err, identity.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", name, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}
