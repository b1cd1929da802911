package redact_test

import (
	"fmt"

	"github.com/svc-gateway/svc/scanner/redact"
)

func ExampleText() {
	fmt.Println(redact.Text("username bob password 7 0822455D0A16"))
	fmt.Println(redact.Text("Forgot your password? A new password is required."))
	// Output:
	// username bob password 7 REDACTED
	// Forgot your password? A new password is required.
}

func ExampleTextStream() {
	r := redact.NewTextStream()
	var out []byte
	for _, piece := range []string{"the pass", "word: hun", "ter2, and ", "more"} {
		out = r.Append(out, []byte(piece))
	}
	fmt.Printf("%s\n", r.Close(out))
	// Output: the password: REDACTED, and more
}

func ExampleJSON() {
	fmt.Printf("%s\n", redact.JSON([]byte(`{"user": "bob", "password": ["a", 1], "note": "secret=\u0062"}`)))
	// Output: {"user": "bob", "password": ["REDACTED", 1], "note": "secret=REDACTED"}
}

func ExampleEventStream() {
	r := redact.NewEventStream()
	out := r.Append(nil, []byte("data: {\"content\":\"its password: hun\"}\n\n"))
	out = r.Append(out, []byte("data: {\"content\":\"ter2 as ever\"}\n\n"))
	fmt.Printf("%s", r.Close(out))
	// Output:
	// data: {"content":"its password: "}
	//
	// data: {"content":"REDACTED as ever"}
}
