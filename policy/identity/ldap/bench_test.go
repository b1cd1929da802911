package ldap_test

import (
	"testing"
	"time"

	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

func BenchmarkAuthenticate(b *testing.B) {
	server := ldaptest.New(b)
	for name, ttl := range map[string]time.Duration{"asked": 0, "remembered": time.Hour} {
		b.Run(name, func(b *testing.B) {
			s := shared(server)
			s.CacheTTL, s.Pool = ttl, 8
			d := open(b, s)
			b.ReportAllocs()
			b.SetParallelism(50)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := d.Authenticate(b.Context(), "bob", "bob-password"); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
