package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Compare says for people what a new inventory changes in the old one: in the first line how many devices, and
// then each of them in a line of its own, with all that is new of it. Devices that are elsewhere come before
// those of which something else is another.
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
			added = append(added, d.Name+" ("+strings.Join(d.told(), ", ")+")")
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
		lines []string
	}{{"new", added}, {"changed", changed}, {"removed", removed}} {
		for _, line := range part.lines {
			b.WriteString(part.what + " " + line + "\n")
		}
	}
	return b.String()
}

// told is all that there is to tell of a new device: where it is, what it is, and the fields by which groups
// and logins find it.
func (d Device) told() []string {
	all := []string{d.Endpoint(), cmp.Or(d.Platform, "no platform")}
	for _, f := range []struct{ name, is string }{
		{"site", d.Site}, {"role", d.Role}, {"status", d.Status}, {"model", d.Model}, {"serial", d.Serial}, {"groups", strings.Join(d.Groups, " ")},
	} {
		if f.is != "" {
			all = append(all, f.name+" "+f.is)
		}
	}
	return all
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
