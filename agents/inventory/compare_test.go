package inventory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/inventory"
)

func TestCompare(t *testing.T) {
	edge := inventory.Device{Name: "edge1", Address: "10.0.0.1", Port: 22, Platform: "ios", Groups: []string{"core"}}
	other := func(change func(*inventory.Device)) inventory.Device {
		d := edge
		change(&d)
		return d
	}
	for _, tc := range []struct {
		name string
		is   inventory.List
		want string
	}{
		{"the same", inventory.List{edge}, "1 devices: 0 new, 0 changed, 0 removed\n"},
		{"another list of no groups", inventory.List{other(func(d *inventory.Device) { d.Groups = []string{"core"} })}, "1 devices: 0 new, 0 changed, 0 removed\n"},
		{"a new one", inventory.List{edge, {Name: "x", Address: "fd00::1", Port: 830}}, "2 devices: 1 new, 0 changed, 0 removed\nnew x ([fd00::1]:830, no platform)\n"},
		{
			"a new one with all fields",
			inventory.List{edge, {Name: "x", Address: "10.0.0.2", Port: 22, Platform: "eos", Site: "ams", Role: "spine", Status: "active", Model: "M 1", Serial: "S1", Groups: []string{"core", "edge"}}},
			"2 devices: 1 new, 0 changed, 0 removed\nnew x (10.0.0.2:22, eos, site ams, role spine, status active, model M 1, serial S1, groups core edge)\n",
		},
		{
			"elsewhere",
			inventory.List{other(func(d *inventory.Device) { d.Address, d.Platform = "203.0.113.66", "linux" })},
			"1 devices: 0 new, 1 changed, 0 removed\nchanged edge1 (address 10.0.0.1:22 to 203.0.113.66:22, platform ios to linux)\n",
		},
		{
			"in other groups",
			inventory.List{other(func(d *inventory.Device) { d.Groups, d.Site = []string{"ams", "edge"}, "ams" })},
			"1 devices: 0 new, 1 changed, 0 removed\nchanged edge1 (site none to ams, joins ams edge, leaves core)\n",
		},
		{"another case", inventory.List{other(func(d *inventory.Device) { d.Name = "EDGE1" })}, "1 devices: 0 new, 1 changed, 0 removed\nchanged EDGE1 (name edge1 to EDGE1)\n"},
		{"gone", nil, "0 devices: 0 new, 0 changed, 1 removed\nremoved edge1\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, inventory.Compare(inventory.List{edge}, tc.is)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// All changes are told, and those of an address before others.
func TestCompareOfMany(t *testing.T) {
	var was, is inventory.List
	for i := range 200 {
		d := inventory.Device{Name: fmt.Sprint("d", i), Address: "10.0.0.1", Port: 22}
		was = append(was, d)
		if d.Site = "ams"; i == 199 {
			d.Address = "203.0.113.66"
		}
		is = append(is, d)
	}
	got := inventory.Compare(was, is)
	if !strings.HasPrefix(got, "200 devices: 0 new, 200 changed, 0 removed\nchanged d199 (address 10.0.0.1:22 to 203.0.113.66:22, ") ||
		strings.Count(got, "(") != 200 {
		t.Errorf("got %s", got)
	}
}
