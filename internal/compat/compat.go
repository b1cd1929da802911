// Package compat says which stored runs, and which separately built parts, this build can work
// with.
//
// A stored run carries the version that wrote it, and a part tells its version in a handshake.
// Call [Check] with that version before you use either. Everything here is constant and safe
// for concurrent use.
package compat

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

// Version is the harness version that this build speaks.
const Version = "0.4.12"

// supported is the range of versions that this build can work with.
const supported = ">=0.4.12, <1.0"

var constraint = func() *semver.Constraints {
	c, err := semver.NewConstraint(supported)
	if err != nil {
		panic(err)
	}
	return c
}()

// An Error says that a version lies outside of what this build works with.
type Error struct {
	Version string // as the part or the stored run gave it
	reason  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the agent framework %s: version %q, need %s", e.reason, e.Version, supported)
}

// Check returns an [*Error] when version is not within the supported range.
func Check(version string) error {
	v, err := semver.StrictNewVersion(version)
	switch {
	case err != nil:
		return &Error{version, "has no valid version"}
	case constraint.Check(v):
		return nil
	case v.LessThan(semver.MustParse(Version)):
		return &Error{version, "is too old for harness features"}
	}
	return &Error{version, "is too new for harness features"}
}
