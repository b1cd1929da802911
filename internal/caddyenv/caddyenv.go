// Package caddyenv keeps Caddy quiet about a missing HOME while it is initialised: it would
// write a warning as JSON before a command can say anything in its own words.
//
// Import it for its effect, beside Caddy. Go initialises packages that are ready in the order of
// their paths, and Caddy needs packages whose paths come after this one's, so this one is always
// first. It sets XDG_CONFIG_HOME to the current folder, which is what Caddy takes anyway when the
// environment has no HOME. After the initialisation it does nothing.
package caddyenv

import "os"

func init() {
	if os.Getenv("HOME") == "" && os.Getenv("XDG_CONFIG_HOME") == "" {
		_ = os.Setenv("XDG_CONFIG_HOME", ".") // cannot fail: the name and the value are valid
	}
}
