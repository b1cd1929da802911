package contents

import (
	"testing"
	"unicode/utf8"
)

// What needs nothing but Go is there on every machine that runs this.
func TestKinds(t *testing.T) {
	have := map[string]bool{}
	for _, k := range Kinds() {
		if have[k.Name] = true; len(k.Text) < least || len(k.Text) > Size {
			t.Errorf("%s: got %d bytes, want %d to %d", k.Name, len(k.Text), least, Size)
		}
		if !k.Binary && !utf8.ValidString(k.Text) {
			t.Errorf("%s is no text", k.Name)
		}
	}
	for _, name := range []string{"telling prose", "chat history", "logs", "CSV", "CJK", "German", "Markdown", "random bytes"} {
		if !have[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
