package inventory

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// NetBox answers GET /api/dcim/devices/ with {count, next, previous, results: [{name, device_type, role,
// platform, site, status, primary_ip, serial, tags, …}]}, whose members are objects with a slug or a
// value: https://netboxlabs.com/docs/netbox/integrations/rest-api/.

// isNetBox reports whether a device is one of NetBox's.
func isNetBox(n *yaml.Node) bool {
	return child(n, "device_type") != nil || child(n, "primary_ip") != nil || child(child(n, "site"), "slug") != nil
}

// wholeAnswer refuses one page of several: the devices of the others would be gone.
func (f *file) wholeAnswer(root, results *yaml.Node) {
	next := child(root, "next")
	count, err := strconv.Atoi(scalar(or(child(root, "count"))))
	if next != nil && scalar(next) != "" || err == nil && count != len(results.Content) {
		f.wrong(root.Line, "results", "these are %d devices of %d: get all of them at once, with ?limit=0", len(results.Content), count)
	}
}

// or is a node, or an empty one.
func or(n *yaml.Node) *yaml.Node {
	if n == nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	return n
}

// slug is the short name of an object, or the text that stands in its place.
func slug(n *yaml.Node) *yaml.Node {
	for _, name := range []string{"slug", "value", "address", "model", "name"} {
		if c := child(n, name); c != nil && c.Kind == yaml.ScalarNode {
			return c
		}
	}
	return or(n)
}

// netboxFields are the fields of NetBox that are ours, those that count more first.
var netboxFields = []struct{ theirs, ours string }{
	{"name", "name"},
	{"primary_ip", "address"},
	{"primary_ip4", "address"},
	{"primary_ip6", "address"},
	{"platform", "platform"},
	{"site", "site"},
	{"role", "role"},
	{"device_role", "role"},
	{"status", "status"},
	{"device_type", "model"},
	{"serial", "serial"},
}

func netboxEntry(n *yaml.Node) entry {
	e := entry{line: n.Line}
	for _, m := range netboxFields {
		v := child(n, m.theirs)
		if v == nil {
			continue
		}
		if v = slug(v); v.Kind == yaml.ScalarNode {
			e.cells = append(e.cells, cell{v.Line, m.ours, m.theirs, scalar(v)})
		}
	}
	if tags := child(n, "tags"); tags != nil {
		for _, t := range tags.Content {
			if t = slug(t); t.Kind == yaml.ScalarNode {
				e.groups = append(e.groups, cell{t.Line, "groups", "tags", scalar(t)})
			}
		}
	}
	return e
}
