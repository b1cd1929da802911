package policy

import "testing"

func TestEndpointPermits(t *testing.T) {
	for _, tt := range []struct {
		name string
		e    Endpoint
		want map[Role]bool
	}{
		{"open", Endpoint{Open: true}, map[Role]bool{"": true, "root": true, Readonly: true, User: true, Admin: true}},
		{"a principal", Endpoint{}, map[Role]bool{"": false, "root": false, Readonly: true, User: true, Admin: true}},
		{"mutate", Endpoint{Action: Mutate}, map[Role]bool{"": false, Readonly: false, User: true, Admin: true}},
		{"admin", Endpoint{Action: AdminAction}, map[Role]bool{"": false, Readonly: false, User: false, Admin: true}},
		{"an unknown action", Endpoint{Action: "fly"}, map[Role]bool{Admin: false}},
	} {
		for role, want := range tt.want {
			if got := tt.e.Permits(role); got != want {
				t.Errorf("%s, role %q: got %t, want %t", tt.name, role, got, want)
			}
		}
	}
}
