package usage

import (
	"slices"
	"strings"
)

// given is an option that a command has.
type given struct {
	name  string
	value Word
	has   bool // it has a value
	word  int
}

// parsed is a command whose words were given their roles.
type parsed struct {
	*spec
	words    []Word // after the name
	roles    []Role
	options  []given
	operands []int // among the words
	parents  []*spec
	traits   Trait
	dashed   int // the number of operands before --, -1 without one
	reason   string
	word     int
}

// Known reports whether there is a table of a program.
func Known(name string) bool { return specs()[name] != nil }

// Runs reports whether a program runs the command that follows it.
func Runs(name string) bool {
	s := specs()[name]
	return s != nil && s.run >= 0
}

// HasVerbs reports whether the first operand of a program says what it does.
func HasVerbs(name string) bool {
	s := specs()[name]
	return s != nil && s.style&subs != 0
}

// Values returns the values of options that a command has, in their order.
func (r Reading) Values(names ...string) (values []Word) {
	for _, g := range r.options {
		if slices.Contains(names, g.name) && g.has {
			values = append(values, g.value)
		}
	}
	return values
}

// Has reports whether a command has one of the options.
func (r Reading) Has(names ...string) bool {
	return slices.ContainsFunc(r.options, func(g given) bool { return slices.Contains(names, g.name) })
}

// Operands returns the places of the operands among the words, from 0.
func (r Reading) Operands() []int { return r.operands }

// Read gives each word of a command its role. ok is false where the program is in no table.
func Read(name string, words []Word) (r Reading, ok bool) {
	s := specs()[name]
	if s == nil {
		return Reading{Reason: "the command " + name + " is not known"}, false
	}
	if len(words) == 1 && words[0].Fixed && (words[0].Text == "--help" || words[0].Text == "--version") {
		return Reading{Reads: true, Roles: []Role{Option}}, true
	}
	p := parsed{spec: s, words: words, roles: make([]Role, len(words)), dashed: -1, traits: s.traits, word: -1}
	if i := separated(name, words); i >= 0 {
		p.fail(i, "a word of "+name+" may begin another of its commands")
	}
	inner := p.read()
	if p.reason == "" && inner == 0 {
		p.finish()
	}
	r = Reading{Reads: p.reason == "", Reason: p.reason, Word: p.word + 1, Inner: inner, Judged: p.style&judged != 0, Traits: p.traits, Roles: p.roles, options: p.options, operands: p.operands}
	if !r.Reads {
		r.Inner = 0
		for i, role := range p.roles {
			if role == "" {
				p.roles[i] = Unlooked
			}
		}
	}
	return r, true
}

// fail notes why a command is not said to read; the first reason counts.
func (p *parsed) fail(word int, reason string) {
	if p.reason != "" {
		return
	}
	p.reason, p.word = reason, word
	if word >= 0 && word < len(p.roles) {
		p.roles[word] = Unread
	}
}

// read gives the words their roles. It returns where the command stands that the program runs.
func (p *parsed) read() (inner int) {
	ended := p.style&anything != 0 // there are no more options
	for i := 0; i < len(p.words) && p.reason == ""; i++ {
		w := p.words[i]
		isOperand := ended || w.operand()
		if !w.Fixed && (w.Many || w.Split) && (p.run >= 0 || p.style&subs != 0) {
			p.fail(i, "it is only known at run time which words of "+p.name+" this becomes")
			return 0
		}
		if !w.Fixed && !isOperand {
			if p.late(i) {
				continue
			}
			if p.style&closed == 0 {
				p.fail(i, "it is only known at run time which words of "+p.name+" this becomes")
				return 0
			}
			isOperand = true
		}
		switch {
		case !isOperand && w.Text == "--" && p.style&noDash == 0:
			ended, p.dashed = true, len(p.operands)
			p.roles[i] = Option
		case !isOperand:
			i = p.optionAt(i)
		case p.style&subs != 0:
			p.enter(i)
			ended = p.style&anything != 0
		case p.style&assigns != 0 && w.Fixed && strings.Contains(w.Text, "="):
			if name, _, _ := strings.Cut(w.Text, "="); !Harmless(name) {
				p.fail(i, "it sets a variable")
			}
			p.roles[i], ended = Operand, true
		case p.run >= 0 && len(p.operands) == p.run:
			for j := i; j < len(p.words); j++ {
				p.roles[j] = Command
			}
			if !w.Fixed {
				p.fail(i, "the command that "+p.name+" runs is only known at run time")
			}
			return i + 1
		default:
			p.roles[i] = Operand
			p.operands = append(p.operands, i)
			ended = ended || p.style&posix != 0
		}
	}
	if p.reason == "" && p.style&subs != 0 && p.style&subsMay == 0 && len(p.options) == 0 {
		p.fail(-1, p.name+" needs a subcommand")
	}
	return 0
}

// late reads an option with a value of which only the option is known: --since="$x", -n"$x".
func (p *parsed) late(i int) bool {
	w := p.words[i]
	if w.Split || !strings.HasPrefix(w.Head, "-") {
		return false
	}
	if name, _, ok := strings.Cut(w.Head, "="); ok && strings.HasPrefix(name, "--") {
		o, ok := p.find(name)
		if !ok || o.worse || o.value == 0 {
			return false
		}
		p.take(o, i, Word{Text: w.Text[min(len(w.Text), len(name)+1):]}, true)
		return true
	}
	if p.style&single != 0 || len(w.Head) < 2 {
		return false
	}
	o, ok := p.shortOption(w.Head[1])
	if !ok || o.worse || o.value == 0 {
		return false
	}
	p.take(o, i, Word{Text: w.Text[min(len(w.Text), 2):]}, true)
	return true
}

func (p *parsed) take(o option, i int, value Word, has bool) {
	p.roles[i] = Option
	p.options = append(p.options, given{o.name, value, has, i})
	p.traits |= o.traits | p.spec.options[o.name]
	for _, s := range p.parents {
		p.traits |= s.options[o.name]
	}
}

// optionAt reads the option, or the options, of a word, and the value that may be the next word. It
// returns the last word that was read.
func (p *parsed) optionAt(i int) int {
	word := p.words[i].Text
	if strings.HasPrefix(word, "--") || p.style&single != 0 {
		name, value, attached := strings.Cut(word, "=")
		o, ok := p.find(name)
		switch {
		case !ok && p.style&single != 0 && strings.HasPrefix(name, "--"):
			o, ok = p.find(name[1:])
		case !ok && p.style&open != 0 && strings.HasPrefix(name, "--") && !p.shortened(name):
			o, ok = option{name: name, value: '?'}, true
		}
		switch {
		case !ok:
			p.fail(i, p.name+" has no option "+name+" that is known to only read")
		case o.worse:
			p.fail(i, p.name+" "+o.name+" does more than read")
		case attached && o.value == 0 && p.style&boolean == 0:
			p.fail(i, p.name+" "+o.name+" takes no value")
		case attached:
			p.take(o, i, Word{Text: value, Fixed: true}, true)
		case o.value == '=':
			return p.next(o, i)
		default:
			p.take(o, i, Word{}, false)
		}
		return i
	}
	for j := 1; j < len(word); j++ {
		o, ok := p.shortOption(word[j])
		switch {
		case !ok:
			p.fail(i, p.name+" has no option -"+word[j:j+1]+" that is known to only read")
			return i
		case o.worse:
			p.fail(i, p.name+" "+o.name+" does more than read")
			return i
		case o.value != 0 && j+1 < len(word):
			value := word[j+1:]
			if p.style&boolean != 0 {
				value = strings.TrimPrefix(value, "=")
			}
			p.take(o, i, Word{Text: value, Fixed: true}, true)
			return i
		case o.value == '=':
			return p.next(o, i)
		}
		p.take(o, i, Word{}, false)
	}
	return i
}

// next reads the next word as the value of an option.
func (p *parsed) next(o option, i int) int {
	if i+1 == len(p.words) {
		p.fail(i, p.name+" "+o.name+" has no value")
		return i
	}
	w := p.words[i+1]
	if !w.Fixed && (w.Split || w.Many) && p.style&closed == 0 {
		p.fail(i+1, "it is only known at run time whether this is the value of "+o.name)
		return i
	}
	p.take(o, i, w, true)
	p.roles[i+1] = Value
	return i + 1
}

// shortened reports whether a name may stand for a long option that does more than read.
func (p *parsed) shortened(name string) bool {
	for _, s := range append(p.parents, p.spec) {
		for full, o := range s.long {
			if o.worse && strings.HasPrefix(full, name) {
				return true
			}
		}
	}
	return false
}

func (p *parsed) shortOption(letter byte) (option, bool) {
	if o, ok := p.short[letter]; ok {
		return o, true
	}
	for _, s := range p.parents {
		if o, ok := s.short[letter]; ok {
			return o, true
		}
	}
	return option{}, false
}

// find returns a long option by its name, which may be shortened as long as it is the only one.
func (p *parsed) find(name string) (option, bool) {
	if o, ok := p.long[name]; ok {
		return o, true
	}
	for _, s := range p.parents {
		if o, ok := s.long[name]; ok {
			return o, true
		}
	}
	if p.style&abbrev == 0 || len(name) < 3 {
		return option{}, false
	}
	var found option
	for full, o := range p.long {
		if strings.HasPrefix(full, name) {
			if found.name != "" {
				return option{}, false
			}
			found = o
		}
	}
	return found, found.name != ""
}

// enter goes on with the grammar of a subcommand.
func (p *parsed) enter(i int) {
	w := p.words[i]
	if !w.Fixed {
		p.fail(i, "the subcommand of "+p.name+" is only known at run time")
		return
	}
	child := specs()[p.name+" "+w.Text]
	for pattern := min(len(w.Text), longestName()); child == nil && pattern > 0; pattern-- { // describe-*
		if c := w.Text[pattern-1]; c == '-' || c == ':' {
			child = specs()[p.name+" "+w.Text[:pattern]+"*"]
		}
	}
	if child == nil {
		child = specs()[p.name+" *"]
	}
	if child == nil {
		p.fail(i, p.name+" "+w.Text+" is not known to only read")
		return
	}
	p.roles[i] = Subcommand
	if p.style&inherit != 0 {
		p.parents = append(p.parents, p.spec)
		kept := *child
		kept.style |= inherit & p.style
		child = &kept
	}
	p.spec = child
	p.traits |= child.traits
}

// finish checks what the options and operands are together.
func (p *parsed) finish() {
	switch n := len(p.operands); {
	case p.run >= 0:
		p.fail(-1, p.name+" runs no command that is known")
	case n < p.min:
		p.fail(-1, p.name+" reads something only with more operands")
	case p.max >= 0 && n > p.max:
		p.fail(p.operands[p.max], p.name+" with this operand does more than read")
	}
	if p.max >= 0 || p.min > 0 {
		for _, i := range p.operands {
			if w := p.words[i]; !w.Fixed && (w.Split || w.Many) {
				p.fail(i, "it is only known at run time how many operands of "+p.name+" this becomes")
			}
		}
	}
	for _, check := range p.checks {
		if p.reason != "" {
			return
		}
		if reason := check(p); reason != "" {
			p.fail(p.word, reason)
		}
	}
}

// has reports whether one of the options is given.
func (p *parsed) has(names ...string) bool {
	_, ok := p.value(names...)
	return ok
}

// value returns the value of the last of the options that is given.
func (p *parsed) value(names ...string) (value Word, ok bool) {
	for _, g := range p.options {
		for _, name := range names {
			if g.name == name {
				value, ok = g.value, true
			}
		}
	}
	return value, ok
}

// operand returns an operand by its number, "" if there is none or it is not known.
func (p *parsed) operand(i int) string {
	if i >= len(p.operands) || !p.words[p.operands[i]].Fixed {
		return ""
	}
	return p.words[p.operands[i]].Text
}
