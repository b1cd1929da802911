package redact

import "testing"

func TestClean(t *testing.T) {
	known := knowing(t, "tiger-lion-42")
	for doc, want := range map[string]bool{
		`{"role":"assistant","content":"The disks are full.\nDelete some files: \"a\", \u00e4."}`: true,
		`{"n":[1,2.5e3,null,true],"content":""}`:                                                  true,
		`{"content":"a token`:                                                                     false,
		`{"content":"the desks-are not disk-like"}`:                                               true,
		`{"content":"password=x"}`:                                                                false,
		`{"password":"x"}`:                                                                        false,
		`{"pass\u0077ord":"x"}`:                                                                   false,
		`{"arguments":"{\"pass\\u0077ord\":\"x\"}"}`:                                              false,
		`{"content":"\\n"}`:                                                                       false,
		`{"content":"\q"}`:                                                                        false,
		`{"content":"\u00`:                                                                        false,
		`{"content":"tiger-lion-42"}`:                                                             false,
		`{"content":"tiger\u002dlion-42"}`:                                                        false,
		`{"content":"dGlnZXItbGlvbi00Mg=="}`:                                                      false,
		`tiger-lio`:                                                                               false,
		`\u007a`:                                                                                  true,
		``:                                                                                        true,
	} {
		if got := known.Clean([]byte(doc)); got != want {
			t.Errorf("%s: got %v, want %v", doc, got, want)
		}
		if got := string(known.RedactJSON([]byte(doc))); want && got != doc {
			t.Errorf("%s: redacted it is %s", doc, got)
		}
	}
}
