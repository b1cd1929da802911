package cli

import (
	"bytes"
	"testing"
)

func TestFormats(t *testing.T) {
	columns := []string{"tool", "n", "x"}
	rows := [][]any{{"df, \"h\"", int64(3), nil}, {[]byte("b\n"), 1.5, "z"}}
	for format, want := range map[string]string{
		"table": "TOOL     N    X\ndf, \"h\"  3    \nb        1.5  z\n",
		"csv":   "tool,n,x\n\"df, \"\"h\"\"\",3,\n\"b\n\",1.5,z\n",
		"json": `[
  {
    "tool": "df, \"h\"",
    "n": 3,
    "x": null
  },
  {
    "tool": "b\n",
    "n": 1.5,
    "x": "z"
  }
]
`,
	} {
		var out bytes.Buffer
		if err := Formats[format](&out, columns, rows); err != nil || out.String() != want {
			t.Errorf("%s: got %q, %v, want %q", format, out.String(), err, want)
		}
	}
}

func TestObjectKeepsColumnsInOrder(t *testing.T) {
	got, err := object([]string{"b", "a", "b"}, []any{int64(1), int64(2), int64(3)})
	if want := `{"a":2,"b":3}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
