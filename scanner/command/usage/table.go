package usage

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// option is an option of a program.
type option struct {
	name   string
	value  byte // 0 without one, '=' with one, '?' with one that is attached or not there
	worse  bool // it does more than read
	traits Trait
}

// style is how a program reads its options.
type style uint16

const (
	posix    style = 1 << iota // the first operand ends the options
	single                     // -name is one option with a long name, and -name=value has a value
	boolean                    // an option without a value takes one behind =, as in --watch=false
	abbrev                     // long options may be shortened
	closed                     // no word does more than read, whatever it is
	open                       // any other long option only reads
	anything                   // all words are operands
	subs                       // the first operand is a subcommand
	subsMay                    // … if there is one
	inherit                    // subcommands know its options too
	noDash                     // -- is a word as any other
	assigns                    // NAME=value stands before the command that is run
	judged                     // that its words are understood does not say that it reads: what it is given is judged apart
)

// spec is the grammar of a program or subcommand.
type spec struct {
	name    string
	style   style
	short   map[byte]option
	long    map[string]option
	min     int // operands
	max     int // -1 without a limit
	run     int // operands before the command that it runs, -1 if it runs none
	checks  []func(*parsed) string
	traits  Trait
	options map[string]Trait // traits that options bring
}

//go:embed programs/*.txt
var programs embed.FS

// specs returns the tables by the names of programs and subcommands.
var specs = sync.OnceValue(func() map[string]*spec {
	t := tables{specs: make(map[string]*spec, 2000), sets: make(map[string]string)}
	files, err := programs.ReadDir("programs")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := programs.ReadFile("programs/" + f.Name())
		if err == nil {
			err = t.add(string(text))
		}
		if err != nil {
			panic(fmt.Errorf("reading programs/%s: %w", f.Name(), err))
		}
	}
	return t.specs
})

// longestName returns the length of the longest name in the tables.
var longestName = sync.OnceValue(func() (longest int) {
	for name := range specs() {
		longest = max(longest, len(name))
	}
	return longest
})

// tables are read from text, see programs/README.md.
type tables struct {
	specs map[string]*spec
	sets  map[string]string // @name: options that several programs have
}

func (t *tables) add(text string) error {
	entry := ""
	for line := range strings.Lines(text + "\n.") {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
			continue
		case line[0] == ' ' || line[0] == '\t':
			entry += " " + strings.TrimSpace(line)
			continue
		}
		if entry != "" {
			if err := t.entry(entry); err != nil {
				return err
			}
		}
		entry = line
	}
	return nil
}

func (t *tables) entry(entry string) error {
	names, tokens, ok := strings.Cut(entry, ": ")
	if !ok {
		names, ok = strings.CutSuffix(entry, ":")
	}
	if !ok {
		return fmt.Errorf("%.40q has no colon and space behind its names", entry)
	}
	if strings.HasPrefix(names, "@") {
		t.sets[names] = tokens
		return nil
	}
	s := &spec{short: make(map[byte]option), long: make(map[string]option), max: -1, run: -1}
	if err := t.tokens(s, tokens, 0); err != nil {
		return fmt.Errorf("%s: %w", names, err)
	}
	for name := range strings.SplitSeq(names, ",") {
		named := *s
		named.name = strings.TrimSpace(name)
		if t.specs[named.name] != nil {
			return fmt.Errorf("%s is there twice", named.name)
		}
		t.specs[named.name] = &named
	}
	return nil
}

var styles = map[string]style{
	"posix": posix, "single": single | posix, "mixed": single, "pflag": boolean, "abbr": abbrev, "closed": closed, "open": open,
	"any": anything, "assign": assigns, "judged": judged, "sub": subs, "sub?": subs | subsMay, "inherit": inherit, "nodash": noDash,
}

func (t *tables) tokens(s *spec, tokens string, depth int) (err error) {
	for _, token := range strings.Fields(tokens) {
		head, rest, _ := strings.Cut(token, ":")
		number, numeric := strconv.Atoi(rest)
		switch {
		case styles[token] != 0:
			s.style |= styles[token]
		case token[0] == '@':
			set, ok := t.sets[token]
			if !ok || depth > 4 {
				return fmt.Errorf("there is no set %s above", token)
			}
			if err = t.tokens(s, set, depth+1); err != nil {
				return err
			}
		case token[0] == '-' || token[0] == '!':
			s.option(token)
		case head == "run" && numeric == nil:
			s.run, s.style = number, s.style|posix
		case head == "min" && numeric == nil:
			s.min = number
		case head == "max" && numeric == nil:
			s.max = number
		case head == "check":
			check := checks[rest]
			if check == nil {
				return fmt.Errorf("there is no check %q", rest)
			}
			s.checks = append(s.checks, check)
		case token[0] == '+':
			if err = s.trait(head[1:], rest); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%q is not understood", token)
		}
	}
	return nil
}

// trait notes a trait of the program, or of some of its options.
func (s *spec) trait(name, options string) error {
	for i, known := range traitNames {
		if known != name {
			continue
		}
		if options == "" {
			s.traits |= 1 << i
			return nil
		}
		if s.options == nil {
			s.options = make(map[string]Trait)
		}
		for o := range strings.SplitSeq(options, ",") {
			s.options[o] |= 1 << i
		}
		return nil
	}
	return fmt.Errorf("there is no trait %q", name)
}

// option notes an option: -a, -abc, -n=, -i?, --long, --long=, --long?, each with a ! in front if it
// does more than read.
func (s *spec) option(token string) {
	name, worse := strings.CutPrefix(token, "!")
	o := option{worse: worse}
	if n := len(name) - 1; n > 0 && (name[n] == '=' || name[n] == '?') {
		o.value, name = name[n], name[:n]
	}
	if strings.HasPrefix(name, "--") || s.style&single != 0 {
		o.name = name
		s.long[name] = o
		return
	}
	for i := 1; i < len(name); i++ {
		o.name = "-" + name[i:i+1]
		s.short[name[i]] = o
	}
}
