package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/svc-gateway/svc/policy"
)

// repeated is the run of the same request before, if there is one.
func (v View) repeated(ctx context.Context, request, digest string) (h Handle, ok bool, err error) {
	if request == "" {
		return h, false, nil
	}
	r, err := v.rt.store.Requested(ctx, request)
	if errors.Is(err, ErrRunNotFound) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	if r.Digest != digest {
		return h, false, ErrIdempotency
	}
	h, err = v.Run(ctx, "", r.ID)
	return h, err == nil, err
}

// key is what tells a request from all others, also from those of other users; empty: it may be one more.
func (req *Request) key(p policy.Principal) string {
	if req.ID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(p.User + "\x00" + req.ID))
	return hex.EncodeToString(sum[:])
}

// digest is the same for requests that ask for the same.
func (req *Request) digest() (string, error) {
	if req.ID == "" {
		return "", nil
	}
	doc, err := json.Marshal(req)
	if err != nil {
		return "", &FieldError{"request", err.Error()}
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:]), nil
}
