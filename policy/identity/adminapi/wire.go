package adminapi

import (
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// The bodies of the interface. Ends are in the forms of [identity.ParseExpiry] on the way in; "" is
// never.
type (
	addUserBody struct {
		Name    string      `json:"name"`
		Role    policy.Role `json:"role"`
		Expires string      `json:"expires,omitempty"`
	}
	updateUserBody struct {
		Role     *policy.Role `json:"role,omitempty"`
		Disabled *bool        `json:"disabled,omitempty"`
		Expires  *string      `json:"expires,omitempty"`
	}
	addTokenBody struct {
		Name    string      `json:"name"`
		Role    policy.Role `json:"role,omitempty"`
		Expires string      `json:"expires,omitempty"`
	}
	rotateBody struct {
		Token string `json:"token,omitempty"` // name or id; default "default"
		Grace string `json:"grace,omitempty"` // a Go duration such as 24h; default none
	}
	usersBody struct {
		Users []identity.Account `json:"users"`
	}
	userBody struct {
		User identity.User `json:"user"`
	}
	addedBody struct {
		User  identity.User `json:"user"`
		Token string        `json:"token"` // in clear: this answer is the one time it is shown
	}
	newTokenBody struct {
		Token string         `json:"token"` // in clear
		Info  identity.Token `json:"info"`
	}
	revokedBody struct {
		Revoked []identity.Token `json:"revoked"`
	}
	sessionsBody struct {
		Sessions []identity.Session `json:"sessions"`
	}
	endedBody struct {
		Ended []identity.Session `json:"ended"`
	}
	lockoutsBody struct {
		Lockouts []identity.Lockout `json:"lockouts"`
	}
	unlockedBody struct {
		Unlocked []identity.Lockout `json:"unlocked"`
	}
)
