package jsonscan

import (
	"bytes"
	"testing"
)

func TestUnescape(t *testing.T) {
	for _, tt := range []struct {
		raw, want string
		n         int
		more      bool
	}{
		{`\n`, "\n", 2, false},
		{`\u00e9x`, "é", 6, false},
		{`\ud83d\ude00`, "😀", 12, false},
		{`\u00`, "", 0, true},
		{`\ud83d\u`, "", 0, true},
		{`\q`, `\`, 1, false},
	} {
		got, n, more := Unescape([]byte(tt.raw), nil)
		if string(got) != tt.want || n != tt.n || more != tt.more {
			t.Errorf("%s: got %q, %d, %v", tt.raw, got, n, more)
		}
	}
}

// Each byte comes back as it was written.
func TestEncoded(t *testing.T) {
	var e, to Encoded
	e.Each([]byte("ab"))
	e.Push([]byte(`\u00e9`), len("é"))
	e.Push([]byte(`\n`), 1)
	e.Move(&to, 1)
	if got := string(e.Pop(3)) + "|" + string(e.Pop(1)) + "|" + string(to.Pop(1)); got != `b\u00e9|\n|a` {
		t.Errorf("got %s", got)
	}
	e.Write([]byte("\n"), 1)
	if got := string(e.Pop(1)); got != `\\n` {
		t.Errorf("got %s", got)
	}
}

func TestNumberLength(t *testing.T) {
	for text, want := range map[string]int{"12,": 2, "-0.5e+3}": 7, "01": -1, "1.": -1, "-": -1, "": -1} {
		if got := NumberLength([]byte(text)); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestIDReader(t *testing.T) {
	r := IDReader{
		Naming: func(p []byte) bool { return string(p) == "name" },
		Secret: func(p []byte) bool { return bytes.Equal(p, []byte("password")) },
	}
	got := r.Read([]byte(`{"a":[{"text":"x","index":2},{"id":"m"}],"b":{"value":1,"name":"password"}}`))
	if len(got) != 3 || string(got[0].Tag) != "A2" || string(got[1].Bare) != `"m"` || !got[2].Named || got[2].Object != 3 {
		t.Errorf("got %+v", got)
	}
}
