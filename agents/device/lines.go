package device

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	commands "github.com/svc-gateway/svc/scanner/command/device"
)

// statement is a line of a configuration, behind those of the sections that it stands in.
type statement []string

func (s statement) key() string { return strings.Join(s, "\n") }

// text is the line itself.
func (s statement) text() string { return s[len(s)-1] }

// below reports whether the statement stands in the section that another one begins.
func (s statement) below(of statement) bool {
	return len(s) > len(of) && slices.Equal(s[:len(of)], of)
}

// configuration is what a device is set to, line by line.
type configuration []statement

// chatter are lines that stand around a configuration of IOS and are none of it.
var chatter = []string{"Building configuration...", "Current configuration", "Using ", "end", "ntp clock-period "}

// readLines reads a configuration, or lines for it, whose sections are told by their indentation.
func readLines(text string) (c configuration) {
	var path statement
	var levels []int // the indentation of each line of path
	for raw := range strings.Lines(text) {
		line := strings.TrimRight(raw, " \t\r\n")
		bare := strings.TrimLeft(line, " \t")
		if bare == "" || strings.HasPrefix(bare, "!") {
			continue
		}
		indent := len(line) - len(bare)
		for len(levels) > 0 && levels[len(levels)-1] >= indent {
			levels, path = levels[:len(levels)-1], path[:len(path)-1]
		}
		if len(path) == 0 && slices.ContainsFunc(chatter, func(s string) bool { return bare == s || s != "end" && strings.HasPrefix(bare, s) }) {
			continue
		}
		path, levels = append(slices.Clone(path), bare), append(levels, indent)
		c = append(c, path)
	}
	return c
}

const (
	maxLines = 200 // of one change
	maxDepth = 6   // of sections
)

// expression is a line with a regular expression for numbers, in which a | is one of its signs. If a device took
// that for its own, there would be no letter behind it to name a filter or a file by.
var expression = regexp.MustCompile(`^(?:no )?ip (?:as-path access-list|(?:ext|large-)?community-list) [\w .-]*(?:permit|deny) [0-9_^$.*+()\[\]|,:"-]+(?: any)?$`)

// checkLines refuses lines that are no lines of a configuration.
func checkLines(text string, p *platform) error {
	lines := readLines(text)
	switch {
	case strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }):
		return errors.New("the lines must be printable ASCII characters")
	case len(lines) == 0:
		return errors.New("there is no line")
	case len(lines) > maxLines:
		return fmt.Errorf("there are more than %d lines: make several changes of them", maxLines)
	}
	for _, s := range lines {
		word, _, _ := strings.Cut(s.text(), " ")
		word = strings.ToLower(word)
		switch {
		case len(s) > maxDepth:
			return fmt.Errorf("%q stands in too many sections", s.text())
		case p.candid && (len(s) > 1 || !slices.Contains([]string{"set", "delete", "activate", "deactivate", "insert", "annotate"}, word)):
			return fmt.Errorf("%q is no line for Junos: begin each with set or delete, and do not indent it", s.text())
		case p.candid && len(strings.Fields(s.text())) < 2:
			return fmt.Errorf("%q is for the whole configuration: name what it is for", s.text())
		case !p.candid && (word == "macro" || word == "banner" || commands.Executes(s.text())):
			return fmt.Errorf("%q is no line of a configuration, or one that takes several: leave it out", s.text())
		case !p.candid && strings.Contains(s.text(), "?"):
			return fmt.Errorf("%q has a question mark in it, at which the device would help: write it without", s.text())
		case !p.candid && strings.ContainsAny(s.text(), "|>") && !expression.MatchString(s.text()):
			return fmt.Errorf("%q has | or > in it, with which a device writes files: write it without. A | may only stand between numbers, in the expression of an as-path or community list", s.text())
		}
	}
	return nil
}

// single are the settings of which a section has one: another one takes its place.
var single = []string{"hostname ", "description ", "ip address ", "mtu ", "bandwidth ", "speed ", "duplex ", "switchport mode ", "switchport access vlan ", "encapsulation "}

// with is the configuration as it would be with lines, as far as can be told without the device.
func (c configuration) with(lines configuration) configuration {
	to := slices.Clone(c)
	for _, l := range lines {
		at := len(l) - 1
		if rest, no := strings.CutPrefix(l.text(), "no "); no {
			to = slices.DeleteFunc(to, func(s statement) bool {
				return len(s) > at && slices.Equal(s[:at], l[:at]) && (s[at] == rest || strings.HasPrefix(s[at], rest+" "))
			})
			continue
		}
		if slices.ContainsFunc(to, func(s statement) bool { return slices.Equal(s, l) }) {
			continue
		}
		for _, one := range single {
			if strings.HasPrefix(l.text(), one) {
				to = slices.DeleteFunc(to, func(s statement) bool {
					return len(s) == len(l) && slices.Equal(s[:at], l[:at]) && strings.HasPrefix(s.text(), one)
				})
			}
		}
		to = append(to, l)
	}
	return to
}

// change is the difference of two configurations.
type change struct{ removed, added configuration }

// difference is what takes one configuration to another. A line that stands there twice counts once.
func difference(from, to configuration) (c change) {
	has := func(in configuration) map[string]bool {
		m := make(map[string]bool, len(in))
		for _, s := range in {
			m[s.key()] = true
		}
		return m
	}
	before, after := has(from), has(to)
	for _, s := range from {
		if !after[s.key()] {
			c.removed = append(c.removed, s)
		}
	}
	for _, s := range to {
		if !before[s.key()] {
			c.added = append(c.added, s)
		}
	}
	return c
}

func (c change) empty() bool { return len(c.removed)+len(c.added) == 0 }

// String shows the change, as people read it: each line with its sections above it.
func (c change) String() string {
	var b strings.Builder
	var shown statement // the sections that were shown last
	for _, part := range []struct {
		sign string
		list configuration
	}{{"-", c.removed}, {"+", c.added}} {
		for _, s := range part.list {
			at := 0
			for at < len(s)-1 && at < len(shown) && shown[at] == s[at] {
				at++
			}
			for ; at < len(s)-1; at++ {
				b.WriteString("  " + strings.Repeat(" ", at) + s[at] + "\n")
			}
			b.WriteString(part.sign + " " + strings.Repeat(" ", len(s)-1) + s.text() + "\n")
			shown = s
		}
	}
	return b.String()
}

// inverse are the lines that take a change back.
func (c change) inverse() (lines configuration) {
	for _, s := range c.added {
		if slices.ContainsFunc(c.added, func(section statement) bool { return s.below(section) }) {
			continue // it goes with its section
		}
		text := "no " + s.text()
		if rest, no := strings.CutPrefix(s.text(), "no "); no {
			text = rest
		}
		lines = append(lines, append(slices.Clone(s[:len(s)-1]), text))
	}
	return append(lines, c.removed...)
}

// covers reports whether what happened is what was to happen: every line of it, and beside it only lines
// whose place one of the new ones has taken.
func (c change) covers(happened change) bool {
	missing := difference(happened.added, c.added).added
	kept := difference(happened.removed, c.removed).added
	more := difference(c.added, happened.added).added
	gone := difference(c.removed, happened.removed).added
	if len(missing)+len(kept)+len(more) > 0 {
		return false
	}
	return !slices.ContainsFunc(gone, func(s statement) bool {
		word, _, _ := strings.Cut(s.text(), " ")
		return !slices.ContainsFunc(c.added, func(a statement) bool {
			return len(a) == len(s) && slices.Equal(a[:len(a)-1], s[:len(s)-1]) && strings.HasPrefix(a.text(), word+" ")
		})
	})
}
