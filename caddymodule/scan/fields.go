package scan

import (
	"fmt"
	"slices"
	"strings"
)

// fields says which strings of a JSON document are scanned.
type fields struct {
	scan, skip [][]string // paths; without scan, all
	roles      bool       // messages of the role system or developer are the application's own
}

// everything is scanned when nothing is said.
var everything fields

// The shapes that are known by name.
const (
	shapeOpenAI    = "openai"
	shapeAnthropic = "anthropic"
	shapeOllama    = "ollama"
	shapeProtocol  = "protocol"
	shapeMCP       = "mcp"
)

// shapes are the bodies that are known by name, with the paths of what comes from outside.
var shapes = map[string][]string{
	shapeOpenAI: {
		"messages", "input", "prompt", "instructions", "tools.*.function.description", "tools.*.description",
		"choices.*.message", "choices.*.delta", "choices.*.text", "output", "delta", "item", "response.output", "text",
	},
	shapeAnthropic: {
		"messages", "prompt", "tools.*.description", "requests.*.params.messages",
		"content", "completion", "delta", "content_block", "message.content",
	},
	shapeOllama: {
		"messages", "prompt", "suffix", "input", "tools.*.function.description",
		"message", "response", "thinking",
	},
	shapeProtocol: {
		"input", "command", "messages", "content", "values", "context", "update", "*.content", "*.messages", "*.*.messages", "output", "data",
	},
	shapeMCP: {
		"params.arguments", "params.messages", "params.content", "params._meta", "params.message", "params.data", "result", "error.message", "error.data",
		"*.params", "*.result", "*.error",
	},
}

// shapeNames are the names of the shapes, in their order.
var shapeNames = []string{shapeOpenAI, shapeAnthropic, shapeOllama, shapeProtocol, shapeMCP}

// newFields makes the fields of a configuration.
func newFields(shape string, scan, skip []string) (*fields, error) {
	f := &fields{roles: shape == shapeOpenAI || shape == shapeOllama || shape == shapeProtocol}
	for _, list := range []struct {
		to    *[][]string
		paths []string
	}{{&f.scan, shapes[shape]}, {&f.scan, scan}, {&f.skip, skip}} {
		for _, p := range list.paths {
			path, err := parsePath(p)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, path)
		}
	}
	return f, nil
}

// parsePath reads "messages.*.content". A star stands for any key, and for the elements of an
// array.
func parsePath(s string) ([]string, error) {
	path := strings.Split(strings.TrimPrefix(s, "$."), ".")
	if slices.Contains(path, "") || strings.ContainsAny(s, "[] \t") {
		return nil, fmt.Errorf("%q is not a path such as messages.*.content", s)
	}
	return path, nil
}

// want says whether strings are scanned.
type want uint8

const (
	notYet want = iota // unless a path says so further down
	wanted
	never
)

// top is what is wanted of a document as a whole.
func (f *fields) top() want {
	if len(f.scan) == 0 {
		return wanted
	}
	return notYet
}

// below is what is wanted at the path, when above it is as given.
func (f *fields) below(path []string, above want) want {
	switch {
	case above == never || slices.ContainsFunc(f.skip, func(p []string) bool { return fits(p, path) }):
		return never
	case slices.ContainsFunc(f.scan, func(p []string) bool { return fits(p, path) }):
		return wanted
	}
	return above
}

// fits reports whether the pattern is the path.
func fits(pattern, path []string) bool {
	return slices.EqualFunc(pattern, path, func(p, name string) bool { return p == "*" || p == name })
}
