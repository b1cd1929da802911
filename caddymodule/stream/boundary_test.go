package stream

import "testing"

func TestBoundary(t *testing.T) {
	for _, tt := range []struct {
		stream string
		want   bool
	}{
		{"", true},
		{"\n", true},
		{"data: x", false},
		{"data: x\n", false},
		{"data: x\n\n", true},
		{"data: x\r\n", false},
		{"data: x\r\n\r\n", true},
		{"data: x\r\r", true},
		{"data: x\r\n\r", false},
		{"data: x\n\r\n", true},
		{"data: x\r\r\n", true},
		{"data: x\n\ndata", false},
		{": comment\n\n", true},
	} {
		for cut := 0; cut <= len(tt.stream); cut++ {
			tail := newTail()
			tail.note([]byte(tt.stream[:cut]))
			tail.note([]byte(tt.stream[cut:]))
			if got := tail.boundary(); got != tt.want {
				t.Errorf("%q cut at %d: got %v, want %v", tt.stream, cut, got, tt.want)
			}
		}
		tail := newTail()
		for i := range tt.stream {
			tail.note([]byte{tt.stream[i]})
		}
		if got := tail.boundary(); got != tt.want {
			t.Errorf("%q byte by byte: got %v, want %v", tt.stream, got, tt.want)
		}
	}
}
