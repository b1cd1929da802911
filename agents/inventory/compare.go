package inventory

import (
	"fmt"
	"reflect"
	"strings"
)

// maxNamed is how many devices a comparison names of each kind.
const maxNamed = 20

// Compare says for people what a new inventory changes in the old one.
func Compare(old, devices List) string {
	before := map[string]Device{}
	for _, d := range old {
		before[strings.ToLower(d.Name)] = d
	}
	var added, changed, removed []string
	for _, d := range devices {
		was, there := before[strings.ToLower(d.Name)]
		delete(before, strings.ToLower(d.Name))
		switch {
		case !there:
			added = append(added, d.Name)
		case !reflect.DeepEqual(was, d):
			changed = append(changed, d.Name+difference(was, d))
		}
	}
	for _, d := range old {
		if _, gone := before[strings.ToLower(d.Name)]; gone {
			removed = append(removed, d.Name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d devices: %d new, %d changed, %d removed\n", len(devices), len(added), len(changed), len(removed))
	for _, part := range []struct {
		what  string
		names []string
	}{{"new", added}, {"changed", changed}, {"removed", removed}} {
		if len(part.names) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s: %s", part.what, strings.Join(part.names[:min(len(part.names), maxNamed)], ", "))
		if more := len(part.names) - maxNamed; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// difference names the fields in which two devices differ. Where a device is reached is told with both.
func difference(was, is Device) string {
	var all []string
	if was.Endpoint() != is.Endpoint() {
		all = append(all, "address "+was.Endpoint()+" to "+is.Endpoint())
	}
	if was.Platform != is.Platform {
		all = append(all, "platform "+was.Platform+" to "+is.Platform)
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
