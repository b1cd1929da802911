package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arg is a word of a command as the shell would hand it over.
type arg struct {
	text    string // of a dynamic one what it probably is, with holes for what is not known
	source  string // of a dynamic one: as it is written
	dynamic bool   // it is only known for certain at run time
	glob    bool   // it may stand for many names
	remote  bool   // what is not known of it comes from elsewhere

	// Of a word that is dynamic or a glob, or that another shell would read differently:
	unsure bool // another shell would make it another text
	split  bool // it may vanish, or become several words
	sure   int  // bytes at its start that are certain
}

// written returns the word as it is recorded.
func (a arg) written() string {
	if a.dynamic && a.source != "" {
		return a.source
	}
	return a.text
}

func withoutHoles(s string) string { return strings.ReplaceAll(s, notYet, "") }

// maxBraces is how many words one word may become by its braces, and maxBraceParts how many parts are copied
// for that.
const (
	maxBraces     = 256
	maxBraceParts = 4096
	perBraceByte  = 8 // how many bytes of each of these words count as one that is looked at
)

// expander makes words of the parts of a word.
type expander struct {
	*shell
	fields []arg
	buf    []byte // the text of the word so far
	open   bool   // there is a word, if only an empty one
	whole  bool   // nothing is split
	parted bool   // what is not known was split, so that nothing is certain of the other words
	arg           // what else is known of the word
}

// words returns the words of a command as the shell would hand them over: variables are put in
// and split, braces multiplied.
func (w *shell) words(list []*syntax.Word) (args []arg) {
	for _, word := range list {
		if !w.stepped(perWord / 2) {
			return args
		}
		source := w.source(word)
		if text, ok := bare(word); ok {
			if !w.stepped(1) {
				return args
			}
			args = append(args, arg{text: text, source: source, sure: len(text)})
			continue
		}
		all := braces(word)
		several := len(all) > 1 // in a shell without braces they are one word
		for _, single := range all {
			cost := len(single.Parts)
			if several {
				cost += len(source) / perBraceByte
			}
			if !w.stepped(cost) {
				return args
			}
			e := expander{shell: w}
			e.parts(single.Parts, false)
			e.end()
			for _, f := range e.fields {
				f.source = source
				f.unsure = f.unsure || several
				if e.parted {
					f.split = true
				}
				args = append(args, f)
			}
		}
	}
	return args
}

// bare returns a word that stands for itself: nothing in it is quoted, expanded or a pattern.
func bare(word *syntax.Word) (string, bool) {
	if len(word.Parts) != 1 {
		return "", false
	}
	lit, ok := word.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(lit.Value, `\*?[{`) {
		return "", false
	}
	return lit.Value, true
}

// word returns a word that is not split, as after a redirection.
func (w *shell) word(word *syntax.Word) arg {
	e := expander{shell: w, whole: true}
	e.parts(word.Parts, false)
	return arg{text: string(e.buf), source: w.source(word), dynamic: e.dynamic, glob: e.glob, remote: e.remote}
}

func (w *shell) source(n syntax.Node) string {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start > end || end > len(w.text) {
		return ""
	}
	return w.text[start:end]
}

// braces returns the words that a word with braces stands for.
func braces(word *syntax.Word) []*syntax.Word {
	if !strings.Contains(word.Lit(), "{") && !hasBrace(word) {
		return []*syntax.Word{word}
	}
	split := &syntax.Word{Parts: append([]syntax.WordPart(nil), word.Parts...)}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{word}
	}
	return multiply([]*syntax.Word{split})
}

func hasBrace(word *syntax.Word) bool {
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return true
		}
	}
	return false
}

// multiply replaces the first brace expression of each word until there is none.
func multiply(list []*syntax.Word) (done []*syntax.Word) {
	copied := 0
	for len(list) > 0 && len(done)+len(list) < maxBraces && copied < maxBraceParts {
		word := list[0]
		list = list[1:]
		at := -1
		for i, p := range word.Parts {
			if b, ok := p.(*syntax.BraceExp); ok && !b.Sequence {
				at = i
				break
			}
		}
		if at < 0 {
			done = append(done, word)
			continue
		}
		var each []*syntax.Word
		for _, elem := range word.Parts[at].(*syntax.BraceExp).Elems {
			parts := append([]syntax.WordPart(nil), word.Parts[:at]...)
			parts = append(append(parts, elem.Parts...), word.Parts[at+1:]...)
			copied += len(parts)
			each = append(each, &syntax.Word{Parts: parts})
		}
		list = append(each, list...)
	}
	return append(done, list...)
}

// end ends a word.
func (e *expander) end() {
	if e.open {
		if e.arg.text = string(e.buf); !e.dynamic && !e.glob {
			e.sure = len(e.buf)
		}
		e.fields = append(e.fields, e.arg)
	}
	e.buf, e.open, e.arg = nil, false, arg{}
}

func (e *expander) parts(parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			e.open = true
			e.literal(p.Value, quoted)
		case *syntax.SglQuoted:
			e.open = true
			if p.Dollar {
				e.uncertain()
				e.unsure = true
				e.buf = append(e.buf, plain(p.Value)...)
			} else {
				e.buf = append(e.buf, p.Value...)
			}
		case *syntax.DblQuoted:
			e.open = true
			e.parts(p.Parts, true)
		case *syntax.ParamExp:
			if p.Param != nil && p.Param.Value == "@" && p.Exp == nil && p.Slice == nil && len(e.params) > 1 && !e.whole {
				e.each(e.params[1:])
				continue
			}
			v := e.param(p)
			e.remote = e.remote || v.remote
			number := p.Param != nil && e.found.Numbers[p.Param.Value] && p.Exp == nil // nothing to split, and no option
			if number && !quoted && !v.certain && len(e.buf) == 0 {
				number = false
			}
			e.expanded(v.text, v.certain, quoted || number)
		case *syntax.CmdSubst:
			out := e.outputs(p.Stmts, piped{})
			if !out.known {
				out.text = notYet
			}
			e.remote = e.remote || out.remote || out.decoded
			e.expanded(strings.TrimRight(out.text, "\n"), false, quoted)
		case *syntax.BraceExp: // a sequence
			e.uncertain()
			e.open, e.glob = true, true
		case *syntax.ProcSubst:
			out := e.outputs(p.Stmts, piped{})
			e.remote = e.remote || out.remote || out.decoded
			e.buf = append(e.buf, "/dev/fd/"...)
			e.expanded("63", false, true)
		default:
			e.open = true
			if _, number := part.(*syntax.ArithmExp); !number {
				e.parted = e.parted || !quoted && !e.whole
			}
			e.expanded(notYet, false, true)
		}
	}
}

// uncertain notes that what follows in the word is not certain.
func (e *expander) uncertain() {
	if !e.dynamic && !e.glob && !e.unsure {
		e.sure = len(e.buf)
	}
}

// each adds "$@": each parameter is a word of its own.
func (e *expander) each(params []arg) {
	for i, p := range params {
		if i > 0 {
			e.end()
		}
		e.parted = true
		e.open, e.dynamic, e.remote = true, true, e.remote || p.remote
		e.buf = append(e.buf, p.text...)
	}
}

// expanded adds what an expansion gave; it is split where it is not quoted.
func (e *expander) expanded(text string, certain, quoted bool) {
	if len(e.buf)+len(text) > maxCommand || !e.stepped(len(text)) {
		text, certain = notYet, false
	}
	if !certain {
		e.uncertain()
		e.parted = e.parted || !quoted && !e.whole
	}
	e.dynamic = e.dynamic || !certain
	if quoted || e.whole {
		e.open = true
		e.buf = append(e.buf, text...)
		return
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == ' ' || c == '\t' || c == '\n' {
			e.end()
			e.dynamic = !certain
			continue
		} else if strings.IndexByte("*?[", c) >= 0 {
			e.uncertain()
			e.glob = true
		}
		e.open = true
		e.buf = append(e.buf, text[i])
	}
}

// literal adds a literal without its backslashes.
func (e *expander) literal(s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			if i++; s[i] != '\n' {
				e.buf = append(e.buf, s[i])
			}
		case !quoted && strings.IndexByte("*?[", c) >= 0:
			e.uncertain()
			e.glob = true
			e.buf = append(e.buf, c)
		default:
			e.buf = append(e.buf, c)
		}
	}
}

// plain replaces the escapes of $'…', printf and echo -e.
func plain(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '\\' {
			i += resolveEscape(&b, s[i:])
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
