package inject

import (
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// maxStates bounds the states of an expression. A text that needs more is asked of package regexp,
// which is linear, too, but an order of magnitude slower.
const maxStates = 1 << 11

// expression is a regular expression that is asked only whether a text has a match. It is a
// deterministic automaton whose states are made when a text first leads to them, so that a
// character costs a look into a table. Many goroutines may ask at once.
type expression struct {
	source string
	fold   folding // of the text, before it is looked at
	joined bool    // spaces of the text do not count
	prog   *syntax.Prog
	slow   func() *regexp.Regexp

	ascii  [256]uint8           // classes, once folded, of characters that the expression cannot tell apart
	blanks [utf8.RuneSelf]uint8 // of white space
	bounds []rune               // first characters of ranges of one class, ascending
	ranges []uint8              // their classes
	among  []rune               // a character of each class
	takes  [][]bool             // by class: which instructions take it
	end    uint8                // the class of the end of the text
	stride uint32

	table atomic.Pointer[[]uint32] // state + class -> state

	mu     sync.Mutex
	known  map[string]uint32
	states []moment
}

// notByItself is the class of bytes that have to be looked at with those behind them.
const notByItself = 254

// moment is what a state stands for: where the program may go on, and what character came last.
type moment struct {
	at   []uint32
	last rune // -1: none
}

// States that say no more than that.
const (
	toMake  = iota // has not been made yet
	matched        // there is a match
	noStates
)

func newExpression(source string, fold folding, joined bool) *expression {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		panic("inject: " + err.Error())
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		panic("inject: " + err.Error())
	}
	e := &expression{source: source, fold: fold, joined: joined, prog: prog, known: make(map[string]uint32)}
	e.slow = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
	e.classify()
	table := make([]uint32, noStates*e.stride)
	e.table.Store(&table)
	e.states = make([]moment, noStates)
	e.stateOf(nil, -1)
	return e
}

// classify finds the characters that no instruction tells apart.
func (e *expression) classify() {
	bounds := []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1, utf8.RuneSelf}
	for _, inst := range e.prog.Inst {
		if inst.Op != syntax.InstRune && inst.Op != syntax.InstRune1 {
			continue
		}
		for i := 0; i < len(inst.Rune); i += 2 {
			last := inst.Rune[i]
			if i+1 < len(inst.Rune) {
				last = inst.Rune[i+1]
			}
			bounds = append(bounds, inst.Rune[i], last+1)
		}
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	classes := make(map[string]uint8)
	for _, first := range bounds {
		takes := make([]bool, len(e.prog.Inst))
		key := []byte{lookOf(first)}
		for i := range e.prog.Inst {
			switch inst := &e.prog.Inst[i]; inst.Op {
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				if takes[i] = inst.MatchRune(first); takes[i] {
					key = binary.LittleEndian.AppendUint32(key, uint32(i))
				}
			}
		}
		class, ok := classes[string(key)]
		if !ok {
			class = uint8(len(classes))
			classes[string(key)] = class
			e.among, e.takes = append(e.among, first), append(e.takes, takes)
		}
		e.bounds, e.ranges = append(e.bounds, first), append(e.ranges, class)
	}
	if len(classes) >= notByItself-1 {
		panic("inject: an expression tells too many characters apart: " + e.source)
	}
	for i := range e.ascii {
		b := byte(i)
		switch {
		case b >= utf8.RuneSelf, text.Is(b, text.Space), e.joined && e.fold(b) == ' ':
			e.ascii[b] = notByItself
		default:
			e.ascii[b] = e.classOf(rune(e.fold(b)))
		}
		if text.Is(b, text.Space) {
			e.blanks[b] = e.classOf(rune(b))
		}
	}
	e.end = uint8(len(classes))
	e.among, e.takes = append(e.among, -1), append(e.takes, make([]bool, len(e.prog.Inst)))
	e.stride = uint32(len(e.among))
}

// lookOf tells apart what assertions such as \b tell apart.
func lookOf(r rune) byte {
	switch {
	case r == '\n':
		return 'n'
	case syntax.IsWordChar(r):
		return 'w'
	}
	return 0
}

// classOf returns the class of a character.
func (e *expression) classOf(r rune) uint8 {
	i, found := slices.BinarySearch(e.bounds, r)
	if !found {
		i--
	}
	return e.ranges[i]
}

// stateOf returns the state of a moment, 0 when there are too many. The caller holds the lock, or
// is the only one yet.
func (e *expression) stateOf(at []uint32, last rune) uint32 {
	key := []byte{lookOf(last)}
	if last < 0 {
		key[0] = 'b'
	}
	for _, pc := range at {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	if s, ok := e.known[string(key)]; ok {
		return s
	}
	if len(e.states) == maxStates {
		return toMake
	}
	s := uint32(len(e.states)) * e.stride
	e.known[string(key)] = s
	e.states = append(e.states, moment{at, last})
	if table := *e.table.Load(); len(table) < len(e.states)*int(e.stride) {
		larger := make([]uint32, max(16*int(e.stride), 2*len(table)))
		copy(larger, table)
		e.table.Store(&larger)
	}
	return s
}

// makeStep finds out where a step leads.
func (e *expression) makeStep(state uint32, class uint8) uint32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	from := e.states[state/e.stride]
	asserted := syntax.EmptyOpContext(from.last, e.among[class])
	var after []uint32
	next := uint32(matched)
	if !e.follow(append(slices.Clone(from.at), uint32(e.prog.Start)), asserted, func(pc uint32) {
		if e.takes[class][pc] {
			after = append(after, e.prog.Inst[pc].Out)
		}
	}) {
		slices.Sort(after)
		next = e.stateOf(slices.Compact(after), e.among[class])
	}
	if next != toMake {
		atomic.StoreUint32(&(*e.table.Load())[state+uint32(class)], next)
	}
	return next
}

// follow visits the instructions that take a character and can be reached from some without one.
// It reports whether there is a match before that.
func (e *expression) follow(stack []uint32, asserted syntax.EmptyOp, visit func(pc uint32)) bool {
	seen := make([]bool, len(e.prog.Inst))
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		if stack = stack[:len(stack)-1]; seen[pc] {
			continue
		}
		seen[pc] = true
		switch inst := &e.prog.Inst[pc]; inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^asserted == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstFail:
		default:
			visit(pc)
		}
	}
	return false
}
