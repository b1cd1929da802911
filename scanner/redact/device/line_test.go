package device

import "testing"

func TestUnled(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"set psksecret ", "set psksecret "},
		{"+ set psksecret ", " set psksecret "},
		{"-enable ", "enable "},
		{"-    set passwd ", "    set passwd "},
		{"! enable ", " enable "},
		{"    34\tset passwd ", "set passwd "},
		{"34   set passwd ", "  set passwd "},
		{"34:set passwd ", "set passwd "},
		{"a/fw.conf:34:    set passwd ", "    set passwd "},
		{"fw.conf:  set passwd ", "  set passwd "},
		{"", ""},
		{"+", "+"},
		{"34", "34"},

		{"- set ", "- set "},                       // an item of a list
		{"--enable ", "--enable "},                 // an option
		{"     12 password ", "     12 password "}, // a count
		{"note: the password ", "note: the password "},
		{"https://a/b:c ", "https://a/b:c "},
		{"1234567:x ", "1234567:x "},
	} {
		if got := string(Unled([]byte(tt.in))); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}
