package command

import (
	"maps"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/command/device"
	"github.com/svc-gateway/svc/scanner/command/form"
	"github.com/svc-gateway/svc/scanner/command/usage"
)

// deviceNode is a word of the commands of network devices, with the words that may follow it.
type deviceNode struct {
	next    map[string]*deviceNode
	words   []string // of next, sorted
	verdict verdict  // of the command that ends here or goes on with words that are not known
	ends    bool     // there is a verdict
}

// deviceRoot holds the commands of all devices.
var deviceRoot = func() *deviceNode {
	root := &deviceNode{next: make(map[string]*deviceNode)}
	for _, d := range deviceCommands {
		for line := range strings.SplitSeq(d.lines, ",") {
			n := root
			for _, word := range strings.Fields(line) {
				if n.next[word] == nil {
					n.next[word] = &deviceNode{next: make(map[string]*deviceNode)}
				}
				n = n.next[word]
			}
			n.verdict, n.ends = verdict{class: d.class, category: d.category, reason: d.reason}, true
		}
	}
	root.sort()
	return root
}()

func (n *deviceNode) sort() {
	n.words = slices.Sorted(maps.Keys(n.next))
	for _, next := range n.next {
		next.sort()
	}
}

// find returns the node of a word that may be shortened as long as it is the only one.
func (n *deviceNode) find(word string) (found *deviceNode, short bool) {
	word = strings.ToLower(word)
	if exact := n.next[word]; exact != nil || len(word) < 2 {
		return exact, false
	}
	name := ""
	first, _ := slices.BinarySearch(n.words, word)
	for _, full := range n.words[first:] {
		switch {
		case !strings.HasPrefix(full, word):
			return found, true
		case !strings.HasPrefix(full, name): // config and configure are one
			return nil, false
		}
		found, name = n.next[full], full
	}
	return found, true
}

// judgeDevice judges a command of a network device. Its words may be shortened; a first word that
// is a program of a host is not.
func judgeDevice(name string, args call) (verdict, bool) {
	if capital := name != strings.ToLower(name); name == "" || capital && name != strings.ToUpper(name) && len(args) > 1 {
		return verdict{}, false // a sentence
	}
	if !args.dynamic() && device.PrintsMenu(name, args.words()) {
		return verdict{class: ReadOnly}, true
	}
	node, short := deviceRoot.find(name)
	if node == nil || short && hostProgram(name) || prose(args) || name == "shutdown" && len(args) > 0 {
		return verdict{}, false
	}
	best := node
	for _, a := range args {
		if node, _ = node.find(a.text); node == nil {
			break
		}
		if node.ends {
			best = node
		}
	}
	v, ok := best.verdict, best.ends
	if last := args.last(); v.class != Dangerous && v.class != ReadOnly {
		switch {
		case name == "set" && (last == "disable" || last == "down") && len(args) > 1, strings.HasPrefix("configure", name) && last == "shutdown" && args[max(0, len(args)-2)].text != "no":
			v, ok = dangerous(Shutdown, "it takes an interface down"), true
		}
	}
	if ok && v.class == ReadOnly {
		if why := device.MoreThanReads(strings.ToLower(name), args.words()); why != "" {
			v = unknown(why)
		}
	}
	if ok && v.class != Dangerous && args.dynamic() {
		v = unknown("the command is only known at run time")
	}
	return v, ok && (v.class == Dangerous || !hostProgram(name))
}

// last returns the last argument, "" without one.
func (c call) last() string {
	if len(c) == 0 {
		return ""
	}
	return c[len(c)-1].text
}

// words are the arguments as texts.
func (c call) words() []string {
	words := make([]string, len(c))
	for i, a := range c {
		words[i] = a.text
	}
	return words
}

// hostProgram reports whether a name is a program of a host.
func hostProgram(name string) bool {
	_, program := programs[name]
	program = program || usage.Known(name)
	_, wrapper := wrappers[name]
	_, interpreter := interpreters[strings.TrimRight(name, "0123456789.")]
	_, client := sqlClients[name]
	return program || wrapper || interpreter || client || interpreters[name].language != "" || databaseTools.HasString(name) || tools.HasString(name)
}

// openings begin the configuration of a device.
var openings = strings.Fields("configure interface router system-view vlan banner line hostname policy-map class-map route-map enable config end")

// session reports whether a text is a session with a device or its configuration: its first line
// has a prompt, or opens a configuration.
func session(text string) bool {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	end := form.Prompt(first)
	name, args := form.FirstWord(first[end:])
	if name == "" {
		return false
	}
	node, short := deviceRoot.find(name)
	if node == nil {
		return false
	}
	if end > 0 {
		return true
	}
	return strings.TrimSpace(rest) != "" && strings.TrimSpace(args) != "" && (!short || !hostProgram(name)) && !strings.ContainsAny(text, ";&|`$<>(") &&
		slices.ContainsFunc(openings, func(o string) bool { return deviceRoot.next[o] == node })
}

// prompted reports whether a text begins with the prompt of a device.
func prompted(text string) bool { return form.Prompt(strings.TrimSpace(text)) > 0 }

// deviceLines judges each line of a session or configuration or, where it is not sure that it is
// one, those that are commands of devices. The text of a banner is none. The lines stand in the
// text where they are found, or all at a place.
func (a *analysis) deviceLines(text string, sure bool, all *place) {
	offset, banner := 0, ""
	for line := range strings.Lines(text) {
		at := place{offset, offset + len(strings.TrimRight(line, "\r\n"))}
		if offset += len(line); all != nil {
			at = *all
		}
		if banner != "" {
			if strings.Contains(line, banner) {
				banner = ""
			}
			a.raise(unknown("a text follows that is no command where a banner is known"), at)
			w := shell{analysis: a, text: text, at: &at}
			a.host = true
			w.suspect(fieldsOf(line), at)
			a.host = false
			continue
		}
		bare := strings.TrimSpace(line)
		bare = bare[form.Prompt(bare):]
		command, pipe, piped := strings.Cut(bare, " | ")
		if words := strings.Fields(pipe); piped && (len(words) == 0 || strings.Contains(pipe, "|") || !device.Filters(words[0], words[1:])) {
			a.raise(unknown("what a device does with its output is not known"), at)
		}
		fields := strings.Fields(command)
		if len(fields) > 1 && (fields[0] == "do" || fields[0] == "run") {
			fields = fields[1:]
		}
		if len(fields) == 0 || strings.HasPrefix(fields[0], "!") || fields[0] == "#" {
			continue
		}
		args := call(fieldsOf(command)[len(strings.Fields(command))-len(fields)+1:])
		v, ok := judgeDevice(fields[0], args)
		switch node, _ := deviceRoot.find(fields[0]); {
		case node != nil && node == deviceRoot.next["banner"] && len(fields) > 2:
			mark := fields[2][:min(2, len(fields[2]))]
			if mark[0] != '^' {
				mark = mark[:1]
			}
			if strings.Count(line, mark) == 1 {
				banner = mark
			}
		case !ok:
			if sure {
				a.raise(unknown("the command "+fields[0]+" is not known"), at)
				w := shell{analysis: a, text: text, at: &at}
				w.suspect(append([]arg{{text: fields[0]}}, args...), at)
			}
		}
		if ok {
			a.raise(v, at)
		}
	}
}

// fieldsOf returns the words of a line, as they stand there.
func fieldsOf(line string) (args []arg) {
	for _, f := range strings.Fields(line) {
		args = append(args, arg{text: f})
	}
	return args
}
