package identity

import "github.com/svc-gateway/svc/policy"

// The bodies of the administrative interface. Ends are in the forms of [ParseExpiry] on the
// way in; "" is never.
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
		Users []Account `json:"users"`
	}
	userBody struct {
		User User `json:"user"`
	}
	addedBody struct {
		User  User   `json:"user"`
		Token string `json:"token"` // in clear: this answer is the one time it is shown
	}
	newTokenBody struct {
		Token string `json:"token"` // in clear
		Info  Token  `json:"info"`
	}
	revokedBody struct {
		Revoked []Token `json:"revoked"`
	}
	sessionsBody struct {
		Sessions []Session `json:"sessions"`
	}
	endedBody struct {
		Ended []Session `json:"ended"`
	}
	lockoutsBody struct {
		Lockouts []Lockout `json:"lockouts"`
	}
	unlockedBody struct {
		Unlocked []Lockout `json:"unlocked"`
	}
)
