package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxNamed is how many devices a comparison names of each kind.
const maxNamed = 50

// Compare says for people what a new inventory changes in the old one: of new devices where they are, of
// others what is another. Devices that are elsewhere come first; beyond maxNamed of a kind they are counted.
func Compare(old, devices List) string {
	before := map[string]Device{}
	for _, d := range old {
		before[strings.ToLower(d.Name)] = d
	}
	var added, moved, changed, removed []string
	for _, d := range devices {
		was, there := before[strings.ToLower(d.Name)]
		delete(before, strings.ToLower(d.Name))
		switch {
		case !there:
			added = append(added, fmt.Sprintf("%s (%s, %s)", d.Name, d.Endpoint(), cmp.Or(d.Platform, "no platform")))
		case was.Endpoint() != d.Endpoint():
			moved = append(moved, d.Name+difference(was, d))
		default:
			if other := difference(was, d); other != "" {
				changed = append(changed, d.Name+other)
			}
		}
	}
	for _, d := range old {
		if _, gone := before[strings.ToLower(d.Name)]; gone {
			removed = append(removed, d.Name)
		}
	}
	changed = append(moved, changed...)
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

// difference says in which fields two devices differ; empty if they do not. What a field was and is are told
// but for the list of groups, which may be long: of that, those that the device joins and leaves.
func difference(was, is Device) string {
	var all []string
	for _, f := range []struct{ name, was, is string }{
		{"name", was.Name, is.Name},
		{"address", was.Endpoint(), is.Endpoint()},
		{"platform", was.Platform, is.Platform},
		{"site", was.Site, is.Site},
		{"role", was.Role, is.Role},
		{"status", was.Status, is.Status},
		{"model", was.Model, is.Model},
		{"serial", was.Serial, is.Serial},
	} {
		if f.was != f.is {
			all = append(all, f.name+" "+cmp.Or(f.was, "none")+" to "+cmp.Or(f.is, "none"))
		}
	}
	all = append(all, groups("joins", is.Groups, was.Groups)...)
	all = append(all, groups("leaves", was.Groups, is.Groups)...)
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// groups tells of the groups that only one of two lists has.
func groups(what string, in, of []string) []string {
	only := slices.DeleteFunc(slices.Clone(in), func(g string) bool { return slices.Contains(of, g) })
	if len(only) == 0 {
		return nil
	}
	return []string{what + " " + strings.Join(only, " ")}
}
