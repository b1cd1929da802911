package tools

import (
	"fmt"
	"slices"
	"strings"
)

// spec says what of one command is allowed. What it does not mention is refused.
type spec struct {
	name string
	// usage is shown to a model that asked for something else.
	usage string
	// flags maps each allowed flag, dashes included, to the check of its value; nil
	// for a flag without one. Short flags may be written together.
	flags map[string]check
	// whole says that flags with one dash have names of several letters, as ip has.
	whole bool
	// digits allows -5 for -n 5.
	digits bool
	// same replaces a flag by one that means the same in every version of the command.
	same map[string]string
	// operands checks what is neither flag nor value, when there is some; nil allows
	// none unless they are paths.
	operands func(flags, operands []string) error
	// paths says how operands that name files are opened; 0 when they name none.
	paths pathUse
}

// check reports whether a value is allowed.
type check func(string) bool

type pathUse int

const (
	noPaths  pathUse = iota
	shown            // the text of regular files is shown, which no program does
	counted          // the contents of regular files are read, but not printed
	listing          // folders are listed, files shown by name
	metadata         // the entry itself is described
	sizes            // everything below is added up
)

// invocation is a checked command: the flags in a canonical order, one word each.
type invocation struct {
	*spec
	flags    []string
	operands []string
}

const maxOperands = 6 // descriptors 3 to 8, so that no number is the beginning of another

// checkLine parses a command line and holds it against the table.
func checkLine(line string) (invocation, error) {
	words, err := splitLine(line)
	if err != nil {
		return invocation{}, err
	}
	name := words[0]
	s, ok := table[name]
	if !ok {
		if strings.Contains(name, "/") {
			return invocation{}, fmt.Errorf("%s: name the command without its folder; allowed are %s", name, allowed())
		}
		return invocation{}, fmt.Errorf("the command %s is not allowed; allowed are %s", name, allowed())
	}
	in := invocation{spec: s}
	for rest := words[1:]; len(rest) > 0; {
		word := rest[0]
		rest = rest[1:]
		if len(word) < 2 || word[0] != '-' {
			in.operands = append(in.operands, word)
			continue
		}
		if rest, err = in.flag(word, rest); err != nil {
			return invocation{}, fmt.Errorf("%w; usage: %s", err, s.usage)
		}
	}
	switch {
	case len(in.operands) > maxOperands:
		err = fmt.Errorf("%s takes at most %d operands", name, maxOperands)
	case s.operands != nil:
		err = s.operands(in.flags, in.operands)
	case s.paths == noPaths && len(in.operands) > 0:
		err = fmt.Errorf("%s %s is not allowed", name, in.operands[0])
	case (s.paths == shown || s.paths == counted) && len(in.operands) == 0:
		err = fmt.Errorf("%s needs a file", name)
	case s.paths != noPaths && slices.ContainsFunc(in.operands, func(o string) bool { return o == "" || o[0] == '-' }):
		err = fmt.Errorf("%s: a path may not be empty or begin with a dash", name)
	}
	if err != nil {
		return invocation{}, fmt.Errorf("%w; usage: %s", err, s.usage)
	}
	return in, nil
}

// flag takes one word of flags and, where a flag needs one, its value from rest.
func (in *invocation) flag(word string, rest []string) ([]string, error) {
	name, value, given := strings.Cut(word, "=")
	switch {
	case strings.HasPrefix(word, "--"):
		return in.take(name, value, given, "=", rest)
	case in.whole:
		if given {
			return nil, fmt.Errorf("%s %s is not allowed", in.name, word)
		}
		return in.take(word, "", false, "", rest)
	case in.digits && number(word[1:]):
		in.flags = append(in.flags, "-n", word[1:])
		return rest, nil
	}
	for i, letter := range word[1:] {
		flag := "-" + string(letter)
		after := word[1+i+len(string(letter)):]
		if in.spec.flags[flag] != nil {
			return in.take(flag, after, after != "", "", rest)
		}
		if _, err := in.take(flag, "", false, "", nil); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// take adds one flag. join is what stands between it and its value in one word;
// without it they are two words.
func (in *invocation) take(flag, value string, given bool, join string, rest []string) ([]string, error) {
	valid, ok := in.spec.flags[flag]
	if !ok {
		return nil, fmt.Errorf("%s %s is not allowed", in.name, flag)
	}
	if same, ok := in.same[flag]; ok {
		flag = same
	}
	if valid == nil {
		if given {
			return nil, fmt.Errorf("%s %s takes no value", in.name, flag)
		}
		in.flags = append(in.flags, flag)
		return rest, nil
	}
	if !given {
		if len(rest) == 0 {
			return nil, fmt.Errorf("%s %s needs a value", in.name, flag)
		}
		value, rest = rest[0], rest[1:]
	}
	if !valid(value) {
		return nil, fmt.Errorf("%s %s: the value %q is not allowed", in.name, flag, value)
	}
	if join != "" {
		in.flags = append(in.flags, flag+join+value)
	} else {
		in.flags = append(in.flags, flag, value)
	}
	return rest, nil
}
