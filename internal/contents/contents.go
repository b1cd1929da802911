// Package contents gives benchmarks the kinds of text that agents are really sent: source code,
// documentation, logs, data. A benchmark on a sentence that repeats itself says little of them.
//
// Kinds reads what is on any machine with Go, and more where there is Node.js, Python or a folder
// of licences; the rest it makes. It writes nothing. A kind of which this machine has too little is
// left out. Two calls on one machine return the same texts.
//
// All is made when it is first asked for. The functions are safe for concurrent use.
package contents

import (
	"sync"
)

// Size is how long a text is, in bytes. One may be a little shorter, if a character ends there.
const Size = 200 << 10

// least is how much of a kind there must be.
const least = Size / 8

// Kind is a kind of text.
type Kind struct {
	Name string
	Text string
	// Binary says that it is no text: random bytes.
	Binary bool
}

// Kinds returns the kinds of text that this machine has.
func Kinds() []Kind { return kinds() }

var kinds = sync.OnceValue(func() []Kind {
	l := newLibrary()
	list := []Kind{
		{Name: "Go", Text: l.goSource()},
		{Name: "assembly", Text: l.read(".s", "src/runtime", "src/internal/runtime", "src/crypto")},
		{Name: "C", Text: l.read(".c .h", "src/runtime/cgo", "src/cmd/cgo", "/usr/include")},
		{Name: "JavaScript", Text: l.javaScript()},
		{Name: "Python", Text: l.read(".py", "/usr/lib/python3*/json", "/usr/lib/python3*/email", "/usr/lib/python3*", "/usr/lib/python3/dist-packages")},
		{Name: "minified JavaScript", Text: l.read(".min.js", "src/internal/trace/traceviewer/static", npm)},
		{Name: "Markdown", Text: l.markdown()},
		{Name: "licences", Text: l.read("*", "LICENSE", "PATENTS", "/usr/share/common-licenses") + l.read(".txt .md", npm+"/LICENSE", npm+"/node_modules/*/LICENSE*")},
		{Name: "man pages", Text: l.read(".1 .5 .7 .gz", npm+"/man", "/usr/share/man/man1", "/usr/share/man/man5")},
		{Name: "HTML", Text: l.read(".html", "doc", npm+"/docs/output", "src/internal/trace/traceviewer/static")},
		{Name: "JSON with code", Text: codeInJSON(l.javaScript() + l.goSource())},
		{Name: "chat history", Text: chat(l)},
		{Name: "telling prose", Text: tellingProse()},
		{Name: "logs", Text: logs()},
		{Name: "CSV", Text: csv()},
		{Name: "CJK", Text: cjk()},
		{Name: "German", Text: german()},
		{Name: "base64", Text: inBase64(l.goSource())},
		{Name: "random bytes", Text: random(), Binary: true},
	}
	var known []Kind
	for _, k := range list {
		if k.Text = cut(k.Text); len(k.Text) >= least {
			known = append(known, k)
		}
	}
	return known
})
