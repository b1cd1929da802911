package main

import (
	"errors"
	"testing"
)

func TestContentHasItsSize(t *testing.T) {
	for name, b := range map[string][]byte{"request": requestBody, "response": responseBody} {
		if len(b) != documentSize {
			t.Errorf("%s: got %d bytes, want %d", name, len(b), documentSize)
		}
	}
	for i, e := range streamEvents {
		if len(e) != eventSize {
			t.Errorf("event %d: got %d bytes, want %d", i, len(e), eventSize)
		}
	}
}

func TestExactly(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string
		err    error
	}{
		"whole":  {[]string{"one, two"}, nil},
		"pieces": {[]string{"one", ", t", "wo"}, nil},
		"short":  {[]string{"one"}, errBody},
		"long":   {[]string{"one, two", "three"}, errBody},
		"other":  {[]string{"one. two"}, errBody},
	} {
		t.Run(name, func(t *testing.T) {
			if err := feed(&exactly{want: []byte("one, two")}, c.pieces...); !errors.Is(err, c.err) {
				t.Errorf("got %v, want %v", err, c.err)
			}
		})
	}
}

func TestAnswered(t *testing.T) {
	const (
		tool   = "data: {\"type\":\"tool_use\",\"name\":\"read_file\"}\n\n"
		denied = "data: {\"type\":\"tool_use\",\"name\":\"read_file\",\"status\":\"denied\"}\n\n"
		say    = "data: {\"type\":\"message_chunk\",\"content\":\"a word\"}\n\n"
		fault  = "data: {\"type\":\"error\",\"code\":\"internal\"}\n\n"
		done   = "data: {\"type\":\"done\"}\n\n"
	)
	for name, c := range map[string]struct {
		pieces []string
		err    error
	}{
		"whole":     {[]string{tool + say + done}, nil},
		"pieces":    {[]string{tool[:9], tool[9:] + say[:40], say[40:], done[:1], done[1:]}, nil},
		"keepalive": {[]string{tool, "\n", say, done}, nil},
		"no tool":   {[]string{say + done}, errBody},
		"denied":    {[]string{denied + say + done}, errBody},
		"no word":   {[]string{tool + done}, errBody},
		"no done":   {[]string{tool + say}, errBody},
		"error":     {[]string{tool + say + fault + done}, errBody},
		"after":     {[]string{tool + say + done + say}, errBody},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answered{word: "word", tools: 1}
			for range 2 { // begin forgets the response before
				if err := feed(a, c.pieces...); !errors.Is(err, c.err) {
					t.Errorf("got %v, want %v", err, c.err)
				}
			}
		})
	}
}

func feed(c checker, pieces ...string) error {
	c.begin()
	for _, p := range pieces {
		if err := c.see([]byte(p)); err != nil {
			return err
		}
	}
	return c.end()
}
