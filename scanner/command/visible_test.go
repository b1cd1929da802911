package command

import "testing"

func TestVisible(t *testing.T) {
	for _, r := range "a é ñ ж 中 ก € ~ �" {
		if !Visible(r) {
			t.Errorf("%U is not visible", r)
		}
	}
	for _, r := range "\u0000\t\n\r\u001b\u007f\u0085\u00a0\u00ad\u034f\u115f\u1160\u17b4\u180b\u180e\u200b\u200d\u202e\u2028\u2066\u2800\u3000\u3164\ufe0f\ufeff\uffa0\U000e0041\U000e0100" {
		if Visible(r) {
			t.Errorf("%U is visible", r)
		}
	}
}
