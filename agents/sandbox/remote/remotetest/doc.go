// Package remotetest has servers for tests that speak the APIs of providers of sandboxes, faults
// included.
//
//	fleet := remotetest.NewFleet()
//	s := remotetest.Daytona(fleet)
//	defer s.Close()
//	fleet.Break(remotetest.Faults{SlowStart: 3})
//	p, err := daytona.New(daytona.Config{URL: s.URL, Key: remotetest.Key})
//
// What a provider would run in a sandbox runs on this host, as this user, with its files below /tmp, and
// goes with the sandbox. So only programs of the tests' own may be run. The wire formats are those of the
// providers' public clients; the providers themselves were never asked.
//
// A Fleet is safe for concurrent use.
package remotetest
