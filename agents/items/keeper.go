package items

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Config is what a keeper works with. Fields without a default are required.
type Config struct {
	Store   Store
	Audit   *audit.Log
	Log     *zap.Logger
	Secrets *redact.Secrets  // values that are shown to nobody; default: none
	Room    Room             // of a user; default [DefaultRoom]
	Now     func() time.Time // default time.Now
}

// DefaultRoom bounds what a user keeps when nobody says otherwise.
var DefaultRoom = Room{Items: 10_000, Bytes: 64 << 20}

// Keeper keeps items for principals. Make it with [New].
type Keeper struct{ Config }

// New returns a keeper.
func New(c Config) *Keeper {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Room == (Room{}) {
		c.Room = DefaultRoom
	}
	return &Keeper{c}
}

// Put keeps a value, in the place of one of the same name. Without an owner it is the principal's. The
// errors are those of the store and of the type [*agents.FieldError], and [ErrTooLarge].
func (k *Keeper) Put(ctx context.Context, p policy.Principal, i Item) error {
	if err := errors.Join(CheckNamespace("namespace", i.Namespace), CheckKey(i.Key)); err != nil {
		return err
	}
	if len(i.Value) > MaxValue {
		return ErrTooLarge
	}
	switch err := strictjson.Check(i.Value); {
	case err != nil || i.Value[0] != '{':
		return &agents.FieldError{Field: "value", Message: "must be a JSON object; DELETE /store/items removes an item"}
	case i.TTL < 0 || i.TTL > MaxTTL:
		return &agents.FieldError{Field: "ttl", Message: fmt.Sprintf("must be more than 0 and at most %d minutes", int64(MaxTTL/time.Minute))}
	}
	if i.Owner == "" {
		i.Owner = own.Of(p)
	}
	if !own.Sees(p, i.Owner) {
		return errors.Join(ErrNotFound, k.foreign(ctx, p, i.Owner))
	}
	now := k.Now().UTC().Truncate(time.Millisecond)
	i.Created, i.Updated = now, now
	i.renew(now)
	return k.Store.PutItem(ctx, i, k.Room)
}

// Get finds an item. Without an owner it is the principal's, or for an admin who has none of this name
// the only one that there is. With renew its time begins anew. The error is [ErrNotFound], or
// [ErrAmbiguous] for an admin who has to name the owner.
func (k *Keeper) Get(ctx context.Context, p policy.Principal, r Ref, renew bool) (Item, error) {
	if err := errors.Join(CheckNamespace("namespace", r.Namespace), CheckKey(r.Key)); err != nil {
		return Item{}, err
	}
	named := r.Owner != ""
	if !named {
		r.Owner = own.Of(p)
	}
	if !own.Sees(p, r.Owner) {
		return Item{}, errors.Join(ErrNotFound, k.foreign(ctx, p, r.Owner))
	}
	i, err := k.Store.Item(ctx, r, k.Now())
	if isNotFound(err) && !named && p.Role == policy.Admin {
		i, err = k.only(ctx, r)
	}
	if err == nil && renew {
		err = k.renew(ctx, []Found{{Item: i}})
	}
	return i, err
}

// only is the one item of a name that there is.
func (k *Keeper) only(ctx context.Context, r Ref) (Item, error) {
	owners, err := k.Store.ItemOwners(ctx, r, k.Now(), 2)
	switch {
	case err != nil:
		return Item{}, err
	case len(owners) == 0:
		return Item{}, ErrNotFound
	case len(owners) > 1:
		return Item{}, ErrAmbiguous
	}
	r.Owner = owners[0]
	return k.Store.Item(ctx, r, k.Now())
}

// Delete removes an item; that there is none is no error. Without an owner it is the principal's.
func (k *Keeper) Delete(ctx context.Context, p policy.Principal, r Ref) error {
	if err := errors.Join(CheckNamespace("namespace", r.Namespace), CheckKey(r.Key)); err != nil {
		return err
	}
	if r.Owner == "" {
		r.Owner = own.Of(p)
	}
	if !own.Sees(p, r.Owner) {
		return k.foreign(ctx, p, r.Owner) // the same answer as for an item that is not there
	}
	return k.Store.DeleteItem(ctx, r)
}

// Show is an item's value as it may be shown, without the secrets and whatever looks like a credential.
func (k *Keeper) Show(i Item) json.RawMessage { return k.Secrets.RedactJSON(i.Value) }

// renew has the time of items begin anew that have one.
func (k *Keeper) renew(ctx context.Context, found []Found) error {
	var refs []Ref
	for _, f := range found {
		if f.TTL > 0 {
			refs = append(refs, Ref{f.Owner, f.Namespace, f.Key})
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return k.Store.RenewItems(ctx, refs, k.Now())
}

// foreign records that a principal named somebody else as the owner.
func (k *Keeper) foreign(ctx context.Context, p policy.Principal, owner string) error {
	return own.Foreign(ctx, k.Audit, p, "the store of", owner)
}

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
