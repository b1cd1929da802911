package bus

import (
	"fmt"
	"time"
)

// MaxRefill is the longest time that a bucket may take from empty to full.
const MaxRefill = 365 * 24 * time.Hour

// Grant is the answer of a bucket.
type Grant struct {
	OK   bool          // there was a token
	Left int64         // tokens that are left
	Wait time.Duration // until there is a token again; 0 while some are left
	Full time.Duration // until all tokens are back
}

// GrantOf is for implementations of Bus: it makes the answer of a bucket that is full again after
// the time full.
func GrantOf(ok bool, full time.Duration, burst int64, every time.Duration) Grant {
	g := Grant{OK: ok, Full: max(0, full)}
	g.Left = max(0, burst-int64((g.Full+every-1)/every))
	if g.Left == 0 {
		g.Wait = g.Full - time.Duration(burst-1)*every
	}
	return g
}

// CheckBucket returns what is wrong with a bucket, for implementations of Bus.
func CheckBucket(key string, burst int64, every time.Duration) error {
	if burst <= 0 || every <= 0 || burst > int64(MaxRefill/every) {
		return fmt.Errorf("taking from %q: burst and every must be above zero and a bucket full within %v, got %d and %v", key, MaxRefill, burst, every)
	}
	return nil
}
