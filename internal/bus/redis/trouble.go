package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/svc-gateway/svc/internal/bus"
)

// The reasons for which a bus is cut off, in [bus.Health].
const (
	reasonUnreachable    = "unreachable"    // no connection
	reasonTimeout        = "timeout"        // no answer in time
	reasonAuthentication = "authentication" // user or password
	reasonPermission     = "permission"     // the ACL user may not do what is needed
	reasonMemory         = "memory"         // maxmemory is reached
	reasonReadOnly       = "read_only"      // a replica, or a server that cannot save
	reasonNotReady       = "not_ready"      // loading, a cluster or replica without its master
	reasonRefused        = "refused"        // any other error of the server
	reasonDeaf           = "not_listening"  // commands work, subscriptions do not
)

// prefixes of the server's errors; see the Redis documentation of each.
var prefixes = []struct{ prefix, reason string }{
	{"WRONGPASS", reasonAuthentication},
	{"NOAUTH", reasonAuthentication},
	{"ERR AUTH", reasonAuthentication},
	{"ERR invalid password", reasonAuthentication},
	{"NOPERM", reasonPermission},
	{"OOM", reasonMemory},
	{"READONLY", reasonReadOnly},
	{"MISCONF", reasonReadOnly},
	{"NOREPLICAS", reasonReadOnly},
	{"LOADING", reasonNotReady},
	{"BUSY", reasonNotReady},
	{"MASTERDOWN", reasonNotReady},
	{"CLUSTERDOWN", reasonNotReady},
	{"TRYAGAIN", reasonNotReady},
}

// unavailable is the error of an operation that the server did not do, or of which that is unknown.
type unavailable struct {
	reason string
	cause  error
}

func (u *unavailable) Error() string {
	return fmt.Sprintf("%v (%s): %v", bus.ErrUnavailable, u.reason, u.cause)
}

func (u *unavailable) Unwrap() []error { return []error{bus.ErrUnavailable, u.cause} }

// trouble makes an error of the client library one of the bus.
func trouble(err error) *unavailable {
	if u, ok := errors.AsType[*unavailable](err); ok {
		return u
	}
	return &unavailable{reasonOf(err), err}
}

func reasonOf(err error) string {
	if refused, ok := errors.AsType[goredis.Error](err); ok {
		// A script's error has the command's behind words of its own.
		text := refused.Error()
		for _, p := range prefixes {
			if strings.HasPrefix(text, p.prefix) {
				return p.reason
			}
		}
		for _, p := range prefixes {
			if strings.Contains(text, "-"+p.prefix+" ") {
				return p.reason
			}
		}
		if goredis.IsPermissionError(err) || strings.Contains(text, "ACL failure") {
			return reasonPermission
		}
		return reasonRefused
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, goredis.ErrPoolTimeout) {
		return reasonTimeout
	}
	return reasonUnreachable
}
