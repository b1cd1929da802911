package identity_test

import (
	"fmt"
	"time"

	"github.com/svc-gateway/svc/policy/identity"
)

func ExampleParseExpiry() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, s := range []string{"90d", "12h", "2027-01-31", "2027-01-31T18:00:00+02:00"} {
		end, err := identity.ParseExpiry(s, now)
		fmt.Println(end, err)
	}
	// Output:
	// 2027-02-19 12:00:00 +0000 UTC <nil>
	// 2026-11-22 00:00:00 +0000 UTC <nil>
	// 2027-02-01 00:00:00 +0000 UTC <nil>
	// 2027-01-31 16:00:00 +0000 UTC <nil>
}
