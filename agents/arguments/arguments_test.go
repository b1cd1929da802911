package arguments

import "testing"

func TestDigest(t *testing.T) {
	a, err := Digest("r", "a", "t", "1", `{"x":1.0,"y":"\u0041"}`)
	if err != nil || len(a) != 64 {
		t.Fatalf("got %q, %v", a, err)
	}
	for _, tc := range []struct {
		run, revision, arguments string
		same                     bool
	}{
		{"r", "1", `{ "y" : "A", "x" : 1 }`, true},
		{"r", "1", `{"x":1,"y":"B"}`, false},
		{"s", "1", `{"x":1,"y":"A"}`, false},
		{"r", "2", `{"x":1,"y":"A"}`, false},
		{"r", "", `{"x":1,"y":"A"}`, false},
	} {
		b, err := Digest(tc.run, "a", "t", tc.revision, tc.arguments)
		if err != nil || (a == b) != tc.same {
			t.Errorf("%s of %s: got %s, %v; the same: want %t", tc.arguments, tc.run, b, err, tc.same)
		}
	}
	if d, err := Digest("r", "a", "t", "", `{"x":`); err == nil {
		t.Errorf("arguments that are no JSON: got %q, want an error", d)
	}
}
