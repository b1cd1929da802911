package identity

import (
	"os/user"
	"strconv"

	"github.com/svc-gateway/svc/policy"
)

// OSPrincipal is a user of the operating system acting as admin: somebody at this machine whom
// a socket's credentials or the process itself identify. The name is "os:<name>", or
// "os:<uid>" for a uid without one.
func OSPrincipal(uid int) policy.Principal {
	name := strconv.Itoa(uid)
	if u, err := user.LookupId(name); err == nil && u.Username != "" {
		name = u.Username
	}
	return policy.Principal{User: "os:" + name, Role: policy.Admin, Source: policy.SourceOS}
}
