package credentials_test

import (
	"testing"

	"github.com/svc-gateway/svc/internal/credentials"
)

func TestBearer(t *testing.T) {
	for _, tt := range []struct {
		value, token string
		ok           bool
	}{
		{"Bearer abc", "abc", true},
		{"bEARER  abc ", "abc", true},
		{"Bearer", "", true},
		{"Bearer a b", "a b", true},
		{"", "", false},
		{"abc", "", false},
		{" Bearer abc", "", false},
		{"Bearer\tabc", "", false},
		{"Bearer=abc", "", false},
		{"Basic abc", "", false},
	} {
		if token, ok := credentials.Bearer(tt.value); token != tt.token || ok != tt.ok {
			t.Errorf("%q: got %q, %t; want %q, %t", tt.value, token, ok, tt.token, tt.ok)
		}
	}
}

func TestBasic(t *testing.T) {
	for _, tt := range []struct {
		value, user, password string
		ok                    bool
	}{
		{"Basic Ym9iOmh1bnRlcjI6eA==", "bob", "hunter2:x", true},
		{"basic  Ym9iOng= ", "bob", "x", true},
		{"Basic Og==", "", "", true},
		{"Basic Ym9i", "", "", false},    // no colon
		{"Basic Ym9iOng", "", "", false}, // no padding
		{"Basic bob:x", "", "", false},
		{"Basic", "", "", false},
		{"Bearer Ym9iOng=", "", "", false},
		{"", "", "", false},
	} {
		user, password, ok := credentials.Basic(tt.value)
		if ok != tt.ok || ok && (user != tt.user || password != tt.password) {
			t.Errorf("%q: got %q, %q, %t; want %q, %q, %t", tt.value, user, password, ok, tt.user, tt.password, tt.ok)
		}
	}
}
