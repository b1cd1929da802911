package looks

import "testing"

func TestLooks(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func([]byte) bool
		yes  []string
		no   []string
	}{
		{"random", Random, []string{"q2Lr9Tn4Vd0W", "0afae57f3ccfd9d7"}, []string{"password", "your-api-key", "aaaaaaaaaaaa", ""}},
		{"scrambled", Scrambled, []string{"QYLPMNHFZUTRDEWS", "TJYLJTDPSTOGT2EM"}, []string{"PACIFICREGIONALS"}},
		{"camel", Camel, []string{"NextToken", "lastEvaluatedKey"}, []string{"q2Lr9Tn4"}},
		{"repeated", Repeated, []string{"xxxx"}, []string{"xx", "abc"}},
		{"numbered", Numbered, []string{"bot123456789"}, []string{"12:34"}},
		{"armoured", Armoured, []string{"-----BEGIN RSA PRIVATE KEY--", "BEGIN PGP PRIVATE KEY BLOCK--"}, []string{"-----BEGIN PUBLIC KEY--", "BEGIN the PRIVATE KEY--", "PRIVATE KEY--"}},
		{"credentials", Credentials, []string{"YWRtaW46aHVudGVyMg"}, []string{"understanding"}},
	} {
		for _, s := range tt.yes {
			if !tt.f([]byte(s)) {
				t.Errorf("%s: %q is none", tt.name, s)
			}
		}
		for _, s := range tt.no {
			if tt.f([]byte(s)) {
				t.Errorf("%s: %q is one", tt.name, s)
			}
		}
	}
}
