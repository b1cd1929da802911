// Package frontmatter reads files that have YAML between two lines --- and a text below it.
//
//	r := frontmatter.Reader{File: path}
//	front, body, ok := r.Split(text, 64<<10)
//	fields := r.Fields(front, "name", "description")
//	name := r.Text(fields["name"], "name")
//	return r.Err()
//
// Whatever is wrong is a [Mistake] with the file, the line, the field and what to do, and reading goes on, so
// that all mistakes are told at once. Anchors and aliases of YAML are mistakes: nothing grows while it is
// read. A Reader is used by one goroutine.
package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/svc-gateway/svc/internal/suggest"
)

// Mistake is one thing wrong with a file.
type Mistake struct {
	File    string
	Line    int    // 0: the whole file
	Field   string // the key, or body; empty: the whole file
	Message string // what is wrong and what to do
}

func (m *Mistake) Error() string {
	at := m.File
	if m.Line > 0 {
		at = fmt.Sprintf("%s:%d", m.File, m.Line)
	}
	if m.Field != "" {
		at += ": " + m.Field
	}
	return at + ": " + m.Message
}

// Reader reads one file.
type Reader struct {
	File string

	mistakes []error
}

// Wrong notes a mistake.
func (r *Reader) Wrong(line int, field, format string, args ...any) {
	r.mistakes = append(r.mistakes, &Mistake{r.File, line, field, fmt.Sprintf(format, args...)})
}

// Err joins all mistakes, nil when there is none.
func (r *Reader) Err() error { return errors.Join(r.mistakes...) }

// Split takes the front matter and the body apart. The front matter keeps the first line, empty, so that its
// lines count from the file's first.
func (r *Reader) Split(text []byte, most int) (front, body string, ok bool) {
	if len(text) > most {
		r.Wrong(0, "", "the file is larger than %d KiB: shorten it", most>>10)
		return "", "", false
	}
	if i := InvalidUTF8(text); i >= 0 {
		r.Wrong(1+bytes.Count(text[:i], []byte("\n")), "", "this is not UTF-8: save the file as UTF-8")
		return "", "", false
	}
	all := strings.ReplaceAll(strings.TrimPrefix(string(text), "\uFEFF"), "\r\n", "\n")
	if i := strings.IndexFunc(all, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }); i >= 0 {
		r.Wrong(1+strings.Count(all[:i], "\n"), "", "there is a control character: remove it")
		return "", "", false
	}
	lines := strings.SplitAfter(all, "\n")
	if strings.TrimRight(lines[0], " \t\n") != "---" {
		r.Wrong(1, "", "the file must begin with --- and front matter: name, description and more, and --- below it")
		return "", "", false
	}
	for i, line := range lines[1:] {
		if strings.TrimRight(line, " \t\n") == "---" {
			return "\n" + strings.Join(lines[1:i+1], ""), strings.Join(lines[i+2:], ""), true
		}
	}
	r.Wrong(len(lines), "", "the front matter does not end: put a line --- between it and the instruction")
	return "", "", false
}

// InvalidUTF8 is the place of the first byte that is not UTF-8; -1: none.
func InvalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// Fields returns the values of front matter by key, nil when it cannot be read.
func (r *Reader) Fields(front string, known ...string) map[string]*yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(front), &doc); err != nil {
		line := 1
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1]) // digits
		}
		r.Wrong(line, "", "the front matter is not YAML: %s; put texts with a colon or # into quotes", strings.TrimPrefix(err.Error(), "yaml: "))
		return nil
	}
	if len(doc.Content) == 0 {
		r.Wrong(1, "", "the front matter is empty: write a name and a description")
		return nil
	}
	return r.Mapping(doc.Content[0], "", known...)
}

// Mapping returns the values of a mapping by key, nil when it is none. Keys that are unknown or there twice
// are mistakes. prefix comes before the keys in messages, such as limits and a dot.
func (r *Reader) Mapping(n *yaml.Node, prefix string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		r.Wrong(n.Line, strings.TrimSuffix(prefix, "."), "want lines with a key and a value; the keys are %s", strings.Join(known, ", "))
		return nil
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch first := fields[key.Value]; {
		case !slices.Contains(known, key.Value):
			r.Wrong(key.Line, prefix+key.Value, "unknown key%s; the keys are %s", suggest.DidYouMean(key.Value, known), strings.Join(known, ", "))
		case first != nil:
			r.Wrong(key.Line, prefix+key.Value, "it is there already, in line %d: remove one", first.Line)
		default:
			fields[key.Value] = n.Content[i+1]
		}
	}
	return fields
}

// Text returns the value of a scalar, empty when it is none.
func (r *Reader) Text(n *yaml.Node, field string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		r.Wrong(n.Line, field, "want one value here, without an anchor or alias; remove the key if there is none")
		return ""
	}
	return n.Value
}

// Line returns a text of one line and at most so many bytes, as prompts and tables have it.
func (r *Reader) Line(n *yaml.Node, field string, most int) string {
	text := strings.TrimSpace(r.Text(n, field))
	switch {
	case len(text) > most:
		r.Wrong(n.Line, field, "it has %d bytes, of %d at most: shorten it, the body has room", len(text), most)
	case strings.Contains(text, "\n"):
		r.Wrong(n.Line, field, "it has several lines: write one, or begin it with >-")
	case strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }):
		r.Wrong(n.Line, field, "there is a control character: remove it")
	}
	return text
}

// List returns the entries of a list of at most so many, none when it is none.
func (r *Reader) List(n *yaml.Node, field string, most int) []*yaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind != yaml.SequenceNode:
		r.Wrong(n.Line, field, "want a list, such as [one, two], or each entry on a line that begins with -")
		return nil
	case len(n.Content) > most:
		r.Wrong(n.Line, field, "it has %d entries, of %d at most", len(n.Content), most)
		return nil
	}
	return n.Content
}

// Texts returns a list of scalars, each of them once.
func (r *Reader) Texts(n *yaml.Node, field string, most int) []string {
	var all []string
	for _, e := range r.List(n, field, most) {
		text := r.Text(e, field)
		switch {
		case text == "":
		case slices.Contains(all, text):
			r.Wrong(e.Line, field, "%s is there twice: remove one", text)
		default:
			all = append(all, text)
		}
	}
	return all
}
