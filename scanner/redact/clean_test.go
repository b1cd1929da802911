package redact

import "testing"

func TestClean(t *testing.T) {
	known := knowing(t, "tiger-lion-42")
	for doc, want := range map[string]bool{
		`{"role":"assistant","content":"The disks are full.\nDelete some files: \"a\", \u00e4."}`:  true,
		`{"n":[1,2.5e3,null,true],"content":""}`:                                                   true,
		`{"content":"a","usage":{"total_tokens":412,"prompt_tokens_details":{"cached_tokens":0}}}`: true,
		`{"content":"a","usage":{"total_tokens":412},"token":"q2Lr9Tn4Vd0WkJm3"}`:                  false,
		`{"content":"a","usage":{"total_tokens":412}`:                                              false,
		`{"total_tokens":"a"}`:                       false,
		`{"total_tokens":[1,{"a":2}],"a":"b"}`:       true,
		`{"total_tokens":["a"]}`:                     false,
		`{"password":412345678}`:                     false,
		`{"content":"the total_tokens"}`:             false,
		`{"content":"a token`:                        false,
		`{"content":"the desks-are not disk-like"}`:  true,
		`{"content":"password=x"}`:                   false,
		`{"password":"x"}`:                           false,
		`{"pass\u0077ord":"x"}`:                      false,
		`{"arguments":"{\"pass\\u0077ord\":\"x\"}"}`: false,
		`{"content":"\\n"}`:                          false,
		`{"content":"\q"}`:                           false,
		`{"content":"\u00`:                           false,
		`{"content":"tiger-lion-42"}`:                false,
		`{"content":"tiger\u002dlion-42"}`:           false,
		`{"content":"dGlnZXItbGlvbi00Mg=="}`:         false,
		`tiger-lio`:                                  false,
		`\u007a`:                                     false,
		``:                                           false,
	} {
		if got := known.Clean([]byte(doc)); got != want {
			t.Errorf("%s: got %v, want %v", doc, got, want)
		}
		if got := string(known.RedactJSON([]byte(doc))); want && got != doc {
			t.Errorf("%s: redacted it is %s", doc, got)
		}
	}
}
