package websocket

import (
	"bytes"
	"errors"
	"testing"
)

// rewriter makes messages capitals.
func rewriter(limit int) *Rewriter {
	return &Rewriter{Text: bytes.ToUpper, Max: limit}
}

func raw(first byte, payload string, masked bool) []byte {
	f := frame{masked: masked, mask: [4]byte{1, 2, 3, 4}}
	return appendFrame(nil, first, []byte(payload), &f)
}

func TestRewriter(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 70_000))
	for _, tt := range []struct {
		name     string
		in, want [][]byte
		err      error
	}{
		{"a text", [][]byte{raw(0x81, "abc", false)}, [][]byte{raw(0x81, "ABC", false)}, nil},
		{"a masked text", [][]byte{raw(0x81, "abc", true)}, [][]byte{raw(0x81, "ABC", true)}, nil},
		{"an empty text", [][]byte{raw(0x81, "", false), raw(0x81, "a", false)}, [][]byte{raw(0x81, "", false), raw(0x81, "A", false)}, nil},
		{"a text of 200 bytes", [][]byte{raw(0x81, long[:200], true)}, [][]byte{raw(0x81, string(bytes.ToUpper([]byte(long[:200]))), true)}, nil},
		{"a text of 70000 bytes", [][]byte{raw(0x81, long, false)}, [][]byte{raw(0x81, string(bytes.ToUpper([]byte(long))), false)}, nil},
		{"fragments, and a ping between them", [][]byte{raw(0x01, "ab", true), raw(0x89, "ping", true), raw(0x00, "c", true), raw(0x80, "d", true)}, [][]byte{raw(0x89, "ping", true), raw(0x81, "ABCD", true)}, nil},
		{"binary, in fragments", [][]byte{raw(0x02, "ab", false), raw(0x8a, "pong", false), raw(0x80, "cd", false)}, [][]byte{raw(0x02, "ab", false), raw(0x8a, "pong", false), raw(0x80, "cd", false)}, nil},
		{"close", [][]byte{raw(0x88, "\x03\xe8bye", false)}, [][]byte{raw(0x88, "\x03\xe8bye", false)}, nil},
		{"too long", [][]byte{raw(0x81, "a", false), raw(0x81, long+long, false)}, [][]byte{raw(0x81, "A", false), raw(0x88, "\x03\xf1"+ErrTooLong.Error(), false)}, ErrTooLong},
		{"too long in fragments", [][]byte{raw(0x01, long, false), raw(0x80, long, false)}, [][]byte{raw(0x88, "\x03\xf1"+ErrTooLong.Error(), false)}, ErrTooLong},
		{"an extension", [][]byte{raw(0xc1, "abc", false)}, [][]byte{raw(0x88, "\x03\xea"+ErrExtension.Error(), false)}, ErrExtension},
		{"a fragment of nothing", [][]byte{raw(0x80, "abc", false)}, nil, ErrProtocol},
		{"a text within a text", [][]byte{raw(0x01, "abc", false), raw(0x81, "abc", false)}, nil, ErrProtocol},
		{"a long ping", [][]byte{raw(0x89, long[:126], false)}, nil, ErrProtocol},
		{"unknown data", [][]byte{raw(0x83, "abc", false)}, nil, ErrProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := bytes.Join(tt.in, nil)
			for _, size := range []int{1, 3, len(in)} {
				r := rewriter(100_000)
				var got []byte
				var err error
				for piece := in; len(piece) > 0 && err == nil; piece = piece[min(size, len(piece)):] {
					got, err = r.Append(got, piece[:min(size, len(piece))])
				}
				if !errors.Is(err, tt.err) {
					t.Fatalf("in pieces of %d: got %v, want %v", size, err, tt.err)
				}
				if want := bytes.Join(tt.want, nil); tt.want != nil && !bytes.Equal(got, want) {
					t.Errorf("in pieces of %d: got %.200q, want %.200q", size, got, want)
				}
				if after, again := r.Append(nil, raw(0x81, "abc", false)); err != nil && (len(after) > 0 || !errors.Is(again, tt.err)) {
					t.Errorf("after the error: got %q, %v", after, again)
				}
			}
		})
	}
}

// What comes out does not depend on how it is cut, and more is never kept than is allowed.
func FuzzRewriter(f *testing.F) {
	f.Add(raw(0x81, "abc", true), 1)
	f.Add(append(raw(0x01, "ab", false), raw(0x80, "c", false)...), 2)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		whole, err := rewriter(64).Append(nil, in)
		if size = size&15 + 1; size < 1 {
			size = 1
		}
		r := rewriter(64)
		var got []byte
		var cutErr error
		for piece := in; len(piece) > 0; piece = piece[min(size, len(piece)):] {
			if got, cutErr = r.Append(got, piece[:min(size, len(piece))]); len(r.message) > 64 || len(r.head) > 14 {
				t.Fatalf("%d bytes of a message and %d of a head are kept", len(r.message), len(r.head))
			}
		}
		if !bytes.Equal(got, whole) || !errors.Is(cutErr, err) {
			t.Fatalf("in pieces of %d: got %q, %v, want %q, %v", size, got, cutErr, whole, err)
		}
	})
}
