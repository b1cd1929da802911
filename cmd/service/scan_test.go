package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
)

func upper(text string) answer { return redacted{strings.ToUpper(text), text == "x"} }

func TestEachLine(t *testing.T) {
	long := strings.Repeat("a", 200<<10)
	for _, tt := range []struct {
		name, in, out, complaints string
		found, fails              bool
	}{
		{name: "nothing"},
		{name: "one without a line end", in: `{"id":1,"text":"a"}`, out: "{\"id\":1,\"redacted\":\"A\"}\n"},
		{name: "a byte order mark", in: "\ufeff" + `{"id":1,"text":"a"}`, out: "{\"id\":1,\"redacted\":\"A\"}\n"},
		{name: "ids stay as they are", in: "{\"text\":\"a\",\"id\":{\"n\":[1,2.50]}}\r\n\r\n", out: "{\"id\":{\"n\":[1,2.50]},\"redacted\":\"A\"}\n"},
		{name: "a long line", in: `{"id":1,"text":"` + long + `"}`, out: `{"id":1,"redacted":"` + strings.ToUpper(long) + "\"}\n"},
		{name: "something found", in: `{"id":1,"text":"x"}`, out: "{\"id\":1,\"redacted\":\"X\"}\n", found: true},
		{name: "text of another kind", in: `{"id":1,"text":2}`, complaints: "line 1: not a JSON object with id and text: json: cannot unmarshal number into Go struct field asked.text of type string\n", fails: true},
		{name: "an empty text is one", in: `{"id":1,"text":""}`, out: "{\"id\":1,\"redacted\":\"\"}\n"},
		{name: "a list", in: "[]\nnull", complaints: "line 1: not a JSON object with id and text: json: cannot unmarshal array into Go value of type main.asked\nline 2: the field text is missing\n", fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, complaints bytes.Buffer
			found, err := eachLine(strings.NewReader(tt.in), &out, &complaints, upper)
			if diff := cmp.Diff(tt.out, out.String()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if diff := cmp.Diff(tt.complaints, complaints.String()); diff != "" {
				t.Errorf("complaints: -want +got\n%s", diff)
			}
			if found != tt.found || (err != nil) != tt.fails {
				t.Errorf("got %t, %v; want %t, an error: %t", found, err, tt.found, tt.fails)
			}
		})
	}
}

// A program that asks line by line gets each answer before it asks on.
func TestEachLineAnswersAtOnce(t *testing.T) {
	in, questions := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := eachLine(in, out, io.Discard, upper)
		done <- err
	}()
	for range 3 {
		if _, err := io.WriteString(questions, "{\"id\":1,\"text\":\"a\"}\n"); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len("{\"id\":1,\"redacted\":\"A\"}\n"))
		if _, err := io.ReadFull(answers, got); err != nil {
			t.Fatal(err)
		}
	}
	if err := questions.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
}

func TestPosition(t *testing.T) {
	for offset, want := range map[int][2]int{0: {1, 1}, 2: {1, 3}, 3: {2, 1}, 5: {2, 3}} {
		if line, column := position("ab\ncd", offset); line != want[0] || column != want[1] {
			t.Errorf("position %d: got %d:%d, want %v", offset, line, column, want)
		}
	}
}

func TestFound(t *testing.T) {
	for _, tt := range []struct {
		answer answer
		want   bool
	}{
		{newFindings(nil), false},
		{newFindings([]scanner.Finding{{Confidence: scanner.Low}}), false},
		{newFindings([]scanner.Finding{{Confidence: scanner.Low}, {Confidence: scanner.High}}), true},
		{verdict{Command: command.Command{Class: command.Mutate}}, false},
		{verdict{Command: command.Command{Class: command.Unknown}}, true},
		{verdict{Command: command.Command{Class: command.Dangerous}}, true},
	} {
		if got := tt.answer.found(); got != tt.want {
			t.Errorf("%+v: got %t, want %t", tt.answer, got, tt.want)
		}
	}
}
