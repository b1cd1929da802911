package media

import "testing"

func TestOpaque(t *testing.T) {
	for _, tt := range []struct {
		kind Kind
		body string
		want bool
	}{
		{Unknown, "\x89PNG\r\n\x1a\n\x00\x00", true},
		{Binary, "a\x00", true},
		{Binary, `{"a":1}`, false},
		{Unknown, "\xe9t\xe9", false},
		{Unknown, "", false},
		{JSON, "\x89PNG\r\n\x1a\n\x00\x00", false},
		{Text, "a\x00", false},
		{GRPC, "\x00\x00\x00\x00\x02hi", true},
	} {
		if got := tt.kind.Opaque([]byte(tt.body)); got != tt.want {
			t.Errorf("%s %q: got %v, want %v", tt.kind, tt.body, got, tt.want)
		}
	}
}
