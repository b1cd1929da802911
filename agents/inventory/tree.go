package inventory

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

var yamlLine = regexp.MustCompile(`line (\d+)`)

// maxDepth is how deep a document may be nested.
const maxDepth = 32

// readTree reads YAML, of which JSON is a part: a list of devices, or an object with one under devices, or
// under results as NetBox has it.
func (f *file) readTree(data []byte) {
	if nodes(data) > maxNodes {
		f.wrong(0, "", "there are more than %d values in it: leave out what is not about devices, give it as CSV, or split it", maxNodes)
		return
	}
	if json.Valid(data) { // tabs, which no string of JSON holds as they are, are not for YAML
		data = bytes.ReplaceAll(data, []byte{'\t'}, []byte{' '})
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		line := 0
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		f.wrong(line, "", "this is neither YAML nor JSON: check the indentation, the quotes and the brackets")
		return
	}
	if len(doc.Content) == 0 || !f.plain(&doc, 0) {
		return
	}
	root := doc.Content[0]
	list := root
	if root.Kind == yaml.MappingNode {
		results, devices := child(root, "results"), child(root, "devices")
		switch {
		case results != nil:
			f.foreign, list = true, results
			f.wholeAnswer(root, results)
		case devices != nil && len(root.Content) == 2:
			list = devices
		default:
			f.wrong(root.Line, "", "this is no list of devices: write devices: and below it an entry with - for each, or give NetBox's answer as it is")
			return
		}
	}
	if list.Kind != yaml.SequenceNode {
		f.wrong(list.Line, "", "this is no list of devices: write an entry with - for each")
		return
	}
	f.foreign = f.foreign || slices.ContainsFunc(list.Content, isNetBox)
	for _, n := range list.Content {
		switch {
		case n.Kind != yaml.MappingNode:
			f.wrong(n.Line, "", "this entry is no device: write name: and the other fields")
		case f.foreign:
			f.entries = append(f.entries, netboxEntry(n))
		default:
			f.entries = append(f.entries, f.ownEntry(n))
		}
	}
}

// nodes is how many nodes a document has at most. Each pair of them begins a line, or stands behind one of a few
// characters, which may stand in a text as well.
func nodes(data []byte) int {
	n, before := 1, byte(' ')
	for _, c := range data {
		switch c {
		case ',', '[', '{':
			n++
		case '\n', '\r':
			if before == '-' || !bytes.ContainsRune([]byte(",[{\r\n"), rune(before)) {
				n++
			}
		case ' ':
			if before == '-' || before == '?' {
				n++
			}
		}
		before = c
	}
	return 2 * n
}

// plain refuses what only YAML has, and what means two things to two readers.
func (f *file) plain(n *yaml.Node, depth int) bool {
	switch {
	case depth > maxDepth:
		f.wrong(n.Line, "", "the document is nested too deep")
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		f.wrong(n.Line, "", "anchors and aliases (& and *) are not allowed: write the value out")
		return false
	}
	seen := map[string]bool{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if seen[c.Value] {
				f.wrong(c.Line, clip(c.Value), "the field is there twice")
				return false
			}
			seen[c.Value] = true
		}
		if !f.plain(c, depth+1) {
			return false
		}
	}
	return true
}

// ownEntry is a device in this package's own form.
func (f *file) ownEntry(n *yaml.Node) entry {
	e := entry{line: n.Line}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(fields, key.Value):
			f.unknown(key.Line, key.Value)
		case key.Value == "groups" && v.Kind == yaml.SequenceNode:
			for _, g := range v.Content {
				if g.Kind != yaml.ScalarNode {
					f.wrong(g.Line, "groups", "an item is no text: write the name of a group")
					continue
				}
				e.groups = append(e.groups, cell{g.Line, "groups", "groups", g.Value})
			}
		case v.Kind != yaml.ScalarNode:
			f.wrong(v.Line, key.Value, "this is no text: write one value")
		default:
			e.cells = append(e.cells, cell{v.Line, key.Value, key.Value, scalar(v)})
		}
	}
	return e
}

// scalar is a value as text, empty for null.
func scalar(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// child is the value of a field, nil without one.
func child(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}
