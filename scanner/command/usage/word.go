package usage

// Word is a word of a command as the shell hands it over.
type Word struct {
	Text  string // of one that is not fixed: what it probably is
	Fixed bool   // it is this text, and one word
	Head  string // of one that is not fixed: what each word that it may become certainly begins with
	Split bool   // of one that is not fixed: it may vanish, or become words that do not begin with Head
	Many  bool   // of one that is not fixed: it may become several words, as a pattern does
}

// operand reports whether the word cannot be taken for an option, nor for anything but operands.
func (w Word) operand() bool {
	if w.Fixed {
		return w.Text == "" || w.Text == "-" || w.Text[0] != '-'
	}
	return !w.Split && w.Head != "" && w.Head[0] != '-' && w.Head[0] != '+'
}

// Role is what a word of a command is to the program.
type Role string

// The roles.
const (
	Option     Role = "option"
	Value      Role = "value of an option"
	Operand    Role = "operand"
	Subcommand Role = "subcommand"
	Command    Role = "command that is run"
	Unread     Role = "not understood"
	Unlooked   Role = "not looked at"
)

// Trait is something about a command that its class does not say. Traits are a set of bits.
type Trait uint8

// The traits.
const (
	Network    Trait = 1 << iota // it reaches out to other hosts, be it for a name
	Secret                       // it shows secrets: keys, passwords, environments of processes, raw disks and memory
	Endless                      // it does not end by itself, or may fill the memory
	Pager                        // it opens a program that waits for keys and can start others
	Privileged                   // it runs with other rights
)

var traitNames = []string{"network", "reads_secret", "endless", "pager", "privileged"}

// Names returns the names of the traits, as rules have them.
func (t Trait) Names() (names []string) {
	for i, name := range traitNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Reading is what is made of a command.
type Reading struct {
	Reads  bool   // each word is accounted for, and none does more than read
	Reason string // why it is not said to read
	Word   int    // the word that is the reason; 0 is the name
	Judged bool   // what the program is given is not proved to read: statements, commands of a server
	Inner  int    // of a program that runs another: where its name stands; 0 without one
	Traits Trait
	Roles  []Role // of each word after the name

	options  []given
	operands []int
}
