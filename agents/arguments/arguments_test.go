package arguments

import "testing"

func TestDigest(t *testing.T) {
	a, err := Digest("r", "a", "t", `{"x":1.0,"y":"\u0041"}`)
	if err != nil || len(a) != 64 {
		t.Fatalf("got %q, %v", a, err)
	}
	for _, tc := range []struct {
		run, arguments string
		same           bool
	}{
		{"r", `{ "y" : "A", "x" : 1 }`, true},
		{"r", `{"x":1,"y":"B"}`, false},
		{"s", `{"x":1,"y":"A"}`, false},
	} {
		b, err := Digest(tc.run, "a", "t", tc.arguments)
		if err != nil || (a == b) != tc.same {
			t.Errorf("%s of %s: got %s, %v; the same: want %t", tc.arguments, tc.run, b, err, tc.same)
		}
	}
	if d, err := Digest("r", "a", "t", `{"x":`); err == nil {
		t.Errorf("arguments that are no JSON: got %q, want an error", d)
	}
}
