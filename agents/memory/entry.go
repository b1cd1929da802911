package memory

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/svc-gateway/svc/internal/plaintext"
	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Category says what kind of thing is remembered.
type Category string

// The categories.
const (
	Fact       Category = "fact"       // what stays true of the user or of what they look after
	Decision   Category = "decision"   // what was decided
	Preference Category = "preference" // how the user wants things to be done
	Audit      Category = "audit"      // what was done, or was not, where that matters later
)

// Categories are all of them.
func Categories() []Category { return []Category{Fact, Decision, Preference, Audit} }

// Label is the source of what was recalled; the entries' own stand beside it.
const Label = "memory"

// MaxText is the most that a memory says, in bytes.
const MaxText = 600

// ErrFull is the answer when there is no room for a memory but that of others which count more.
var ErrFull = errors.New("there is no room for the memory")

// Entry is one memory.
type Entry struct {
	ID       string // "mem_" and 32 hexadecimal digits, in the order of making
	Owner    string // the user whose it is
	Agent    string // which agent of the owner's knows it; empty: all of them
	Category Category
	Text     string   // one line
	Labels   []string // the sources of the text, sorted
	Created  time.Time
	Updated  time.Time // when it was learned last
	Used     time.Time // when it was learned or recalled last
	Times    int       // how often it was learned
	Run      string    // in which it was learned last
	Thread   string
}

// Own reports whether all of the memory goes back to the user's own words.
func (e *Entry) Own() bool { return ownWords(e.Labels) }

func ownWords(labels []string) bool {
	return len(labels) > 0 && !slices.ContainsFunc(labels, func(l string) bool { return l != Label && !provenance.Trusted(l) })
}

// Key is the same for memories that say the same: case, punctuation and small words make no difference.
func (e *Entry) Key() string {
	return strings.Join(slices.DeleteFunc(Words(e.Text), func(w string) bool { return articles[w] }), " ")
}

var articles = map[string]bool{"the": true, "a": true, "an": true}

// Words are the words of a text in small letters, in their order: runs of letters and digits, as the storage's
// index has them.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// oneLine is a text without anything that a terminal or a reader would take for more than a line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(plaintext.Clean([]byte(text))), " ")
}

// cut is a text of at most as many bytes, and after that the end, where there was more. The text has to be
// redacted: half a secret looks like none. A mark in the place of a secret is never cut.
func cut(text string, most int, end string) string {
	if len(text) <= most {
		return text
	}
	if i := strings.LastIndex(text[:min(len(text), most+len(redact.Mark)-1)], redact.Mark); i >= 0 && i < most && i+len(redact.Mark) > most {
		most = i
	}
	return string(plaintext.Whole([]byte(text[:most]))) + end
}

// Sources are labels in order, each once.
func Sources(labels ...string) []string {
	all := slices.Clone(labels)
	slices.Sort(all)
	return slices.Compact(all)
}
