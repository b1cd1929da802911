package websocket

import (
	"bytes"
	"errors"
	"testing"
)

// rewriter makes texts capitals.
func rewriter(limit int) *Rewriter {
	return &Rewriter{Take: upper, Max: limit}
}

func upper(p Piece) ([]byte, error) { return bytes.ToUpper(p.Data), nil }

func raw(first byte, payload string, masked bool) []byte {
	f := frame{masked: masked, mask: [4]byte{1, 2, 3, 4}}
	return appendFrame(nil, first, []byte(payload), &f)
}

func reason(err error) string {
	e, _ := errors.AsType[*End](err)
	return e.Reason
}

// in pieces of so many bytes
func appended(r *Rewriter, in []byte, size int) (out []byte, err error) {
	for piece := in; len(piece) > 0 && err == nil; piece = piece[min(size, len(piece)):] {
		out, err = r.Append(out, piece[:min(size, len(piece))])
	}
	return out, err
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
		{"too long", [][]byte{raw(0x81, "a", false), raw(0x81, long+long, false)}, [][]byte{raw(0x81, "A", false), raw(0x88, "\x03\xf1"+reason(ErrTooLong), false)}, ErrTooLong},
		{"too long in fragments", [][]byte{raw(0x01, long, false), raw(0x80, long, false)}, [][]byte{raw(0x88, "\x03\xf1"+reason(ErrTooLong), false)}, ErrTooLong},
		{"an extension", [][]byte{raw(0xc1, "abc", false)}, [][]byte{raw(0x88, "\x03\xea"+reason(ErrExtension), false)}, ErrExtension},
		{"a fragment of nothing", [][]byte{raw(0x80, "abc", false)}, nil, ErrProtocol},
		{"a text within a text", [][]byte{raw(0x01, "abc", false), raw(0x81, "abc", false)}, nil, ErrProtocol},
		{"a long ping", [][]byte{raw(0x89, long[:126], false)}, nil, ErrProtocol},
		{"unknown data", [][]byte{raw(0x83, "abc", false)}, nil, ErrProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := bytes.Join(tt.in, nil)
			for _, size := range []int{1, 3, len(in)} {
				r := rewriter(100_000)
				got, err := appended(r, in, size)
				if !errors.Is(err, tt.err) {
					t.Fatalf("in pieces of %d: got %v, want %v", size, err, tt.err)
				}
				if want := bytes.Join(tt.want, nil); tt.want != nil && !bytes.Equal(got, want) {
					t.Errorf("in pieces of %d: got %.200q, want %.200q", size, got, want)
				}
				if after, again := r.Append(nil, raw(0x81, "abc", false)); err != nil && (len(after) > 0 || !errors.Is(again, tt.err)) {
					t.Errorf("after the error: got %q, %v", after, again)
				}
				if r.Closing() != (tt.name == "close") {
					t.Errorf("closing: got %v", r.Closing())
				}
			}
		})
	}
}

// Binary messages and control frames are taken, too, and an error of who takes them ends it at once.
func TestTakingAll(t *testing.T) {
	refused := &End{CodePolicy, "refused"}
	in := bytes.Join([][]byte{raw(0x02, "ab", true), raw(0x89, "ping", true), raw(0x80, "c", true), raw(0x8a, "", true)}, nil)
	for _, size := range []int{1, 2, len(in)} {
		var kinds []Kind
		r := &Rewriter{Max: 5, All: true, Take: func(p Piece) ([]byte, error) {
			kinds = append(kinds, p.Kind)
			if bytes.Contains(p.Data, []byte("bad")) {
				return nil, refused
			}
			return upper(p)
		}}
		got, err := appended(r, in, size)
		want := bytes.Join([][]byte{raw(0x89, "PING", true), raw(0x82, "ABC", true), raw(0x8a, "", true)}, nil)
		if err != nil || !bytes.Equal(got, want) || len(kinds) != 3 || kinds[0] != Control || kinds[1] != Binary {
			t.Errorf("in pieces of %d: got %q, %v, %v; want %q", size, got, err, kinds, want)
		}
		if got, err = appended(r, append(raw(0x89, "bad", true), raw(0x82, "x", true)...), size); !errors.Is(err, refused) || !bytes.Equal(got, raw(0x88, "\x03\xf0refused", true)) {
			t.Errorf("in pieces of %d: got %q, %v", size, got, err)
		}
	}
}

// A long message is taken in pieces, and nothing that was not taken passes.
func TestLong(t *testing.T) {
	in := bytes.Join([][]byte{raw(0x81, "whole", false), raw(0x01, "abcdefg", false), raw(0x89, "p", false), raw(0x00, "hi", false), raw(0x80, "", false), raw(0x81, "x", false)}, nil)
	for _, size := range []int{1, 3, len(in)} {
		var held []byte
		r := &Rewriter{Max: 5, Long: true, Take: func(p Piece) ([]byte, error) {
			if p.First != (held == nil) || len(p.Data) > 5 {
				t.Errorf("got %+v behind %q", p, held)
			}
			held = append(held, p.Data...)
			if !p.Last {
				return nil, nil
			}
			defer func() { held = nil }()
			return bytes.ToUpper(held), nil
		}}
		got, err := appended(r, in, size)
		want := bytes.Join([][]byte{raw(0x81, "WHOLE", false), raw(0x89, "p", false), raw(0x81, "ABCDEFGHI", false), raw(0x81, "X", false)}, nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("in pieces of %d: got %q, %v, want %q", size, got, err, want)
		}
		r.Take = upper
		if got, err = appended(r, in, size); err != nil || !bytes.Contains(got, []byte("ABCDE")) || string(bytes.ReplaceAll(payloads(t, got), []byte("p"), nil)) != "WHOLEABCDEFGHIX" {
			t.Errorf("in pieces of %d: got %q, %v", size, got, err)
		}
	}
}

// payloads are those of all frames.
func payloads(t *testing.T, p []byte) (all []byte) {
	t.Helper()
	for len(p) > 0 {
		f, ok := parse(p)
		if !ok || f.masked || f.length > 125 {
			t.Fatalf("%q begins with no frame", p)
		}
		all = append(all, p[2:2+f.length]...)
		p = p[2+f.length:]
	}
	return all
}

// A frame of somebody else's fits in between frames, not into one that passes as it comes.
func TestBetween(t *testing.T) {
	for _, tt := range []struct {
		r    *Rewriter
		in   []byte
		want bool
	}{
		{new(Rewriter), nil, true},
		{new(Rewriter), raw(0x81, "abc", false)[:1], true}, // nothing has passed
		{new(Rewriter), raw(0x81, "abc", false)[:2], false},
		{new(Rewriter), raw(0x81, "abc", false)[:4], false},
		{new(Rewriter), raw(0x81, "abc", false), true},
		{rewriter(10), raw(0x81, "abc", false)[:4], true},
		{rewriter(10), raw(0x82, "abc", false)[:4], false},
	} {
		if out, err := tt.r.Append(nil, tt.in); err != nil || tt.r.Between() != tt.want {
			t.Errorf("after %q: got %q, %v, between frames %v", tt.in, out, err, tt.r.Between())
		}
	}
}

// Whatever the rewriter, what comes out does not depend on how it is cut, and more is never kept than is
// allowed.
func FuzzRewriter(f *testing.F) {
	f.Add(raw(0x81, "abc", true), 1, false, false)
	f.Add(append(raw(0x01, "ab", false), raw(0x80, "c", false)...), 2, true, false)
	f.Add(raw(0x82, string(bytes.Repeat([]byte("x"), 200)), true), 50, true, true)
	f.Fuzz(func(t *testing.T, in []byte, size int, all, long bool) {
		make := func() *Rewriter {
			var held []byte
			return &Rewriter{Max: 64, All: all, Long: long, Take: func(p Piece) ([]byte, error) {
				if p.Kind == Control {
					return p.Data, nil
				}
				if p.First {
					held = nil
				}
				if held = append(held, p.Data...); !p.Last {
					return nil, nil
				}
				return bytes.ToUpper(held), nil
			}}
		}
		whole, err := make().Append(nil, in)
		size = size&63 + 1
		r := make()
		var got []byte
		var cutErr error
		for piece := in; len(piece) > 0; piece = piece[min(size, len(piece)):] {
			if got, cutErr = r.Append(got, piece[:min(size, len(piece))]); len(r.message) > 64 || len(r.control) > 125 || len(r.head) > 14 {
				t.Fatalf("%d bytes of a message and %d of a head are kept", len(r.message), len(r.head))
			}
		}
		if !bytes.Equal(got, whole) || !errors.Is(cutErr, err) && cutErr.Error() != err.Error() {
			t.Fatalf("in pieces of %d: got %q, %v, want %q, %v", size, got, cutErr, whole, err)
		}
	})
}

// What passes as it comes is not changed, up to the first frame against the rules.
func FuzzZero(f *testing.F) {
	f.Add(append(raw(0x01, "ab", false), raw(0x80, "c", false)...), 2)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		r := new(Rewriter)
		got, err := appended(r, in, size&63+1)
		if err == nil && !bytes.Equal(got, in[:len(in)-len(r.head)]) || err != nil && !r.Between() {
			t.Fatalf("got %q, %v, want %q", got, err, in)
		}
	})
}
