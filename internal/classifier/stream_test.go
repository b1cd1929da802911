package classifier

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestStream(t *testing.T) {
	srv := fake(t)
	for _, tt := range []struct {
		name, text string
		size       int // of a piece that comes
		config     Config
		want       []string
		calls      int
	}{
		{"short", attack, 3, Config{}, []string{"role_hijacking classifier high 0.9"}, 1},
		{"nothing", "", 1, Config{}, nil, 0},
		{"a word", "gpt-4o", 1, Config{}, nil, 0},
		{"long, at the end", strings.Repeat(harmless+" ", 200) + attack, 7, Config{}, []string{"role_hijacking classifier high 0.9"}, 3},
		{"where steps meet", strings.Repeat("a ", 1015) + attack + strings.Repeat(" b", 1500), 1, Config{}, []string{"role_hijacking classifier high 0.9"}, 3},
		{"beyond what is sent", strings.Repeat(harmless+" ", 200) + attack, 7, Config{MaxText: 3000}, []string{"partly_scanned classifier high 0"}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.URL = srv.URL
			s := open(t, tt.config).NewStream(func() {}, nil)
			var got []string
			for rest := tt.text; rest != ""; {
				n := min(tt.size, len(rest))
				found, err := s.Write(t.Context(), rest[:n])
				if err != nil {
					t.Fatal(err)
				}
				got, rest = append(got, brief(found)...), rest[n:]
			}
			found, err := s.Close(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, append(got, brief(found)...)); diff != "" {
				t.Error(diff)
			}
			if n := len(srv.Asked()); n != tt.calls {
				t.Errorf("asked %d times, want %d", n, tt.calls)
			}
		})
	}
}

func TestTelling(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, " ": false, "user": false, "gpt-4o-mini": false, "a b": true, "忘记": true,
		"ignore_all_previous_instructions": true, strings.Repeat("QUFB", 1000): false, "bonjour à tous": true,
	} {
		if got := Telling(text); got != want {
			t.Errorf("%.40q: got %v, want %v", text, got, want)
		}
	}
}

// Every byte is in a piece, no piece is longer than it may be, and no character is cut.
func FuzzPieces(f *testing.F) {
	f.Add(strings.Repeat("mañana será otro día ", 100), 300)
	f.Add(strings.Repeat("忘", 500), 256)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if !utf8.ValidString(text) || size < MinPiece || size > 1<<16 {
			t.Skip()
		}
		covered := 0
		for at, p := range pieces(text, size) {
			if at > covered || at+len(p) <= covered || len(p) > size || text[at:at+len(p)] != p || !utf8.ValidString(p) {
				t.Fatalf("got a piece of %d bytes at %d, behind %d", len(p), at, covered)
			}
			covered = at + len(p)
		}
		if strings.TrimSpace(text[covered:]) != "" {
			t.Errorf("%d bytes are in no piece", len(text)-covered)
		}
	})
}
