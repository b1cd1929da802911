package classifier

import (
	"fmt"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct{ name, shape, answer, want string }{
		{"score", Plain, `{"score": 0.97}`, "[unsafe high 0.97]"},
		{"score and category", Plain, `{"score": 0.97, "category": "Prompt Injection"}`, "[prompt_injection high 0.97]"},
		{"low score", Plain, `{"score": 0.1, "category": "x"}`, "[]"},
		{"findings", Plain, `{"findings": [{"category": "b", "score": 0.6}, {"category": "a", "score": 1}, {"category": "c", "score": 0.2}]}`, "[a high 1 b high 0.6]"},
		{"nothing found", Plain, `{"findings": []}`, "[]"},
		{"further members", Plain, `{"findings": [], "took_ms": 3}`, "[]"},
		{"a name that is none", Plain, `{"score": 1, "category": "a,b\r\nX: y"}`, "[unsafe high 1]"},
		{"a name in another script", Plain, `{"score": 1, "category": "насилие"}`, "[unsafe high 1]"},
		{"neither", Plain, `{"ok": true}`, "neither a score nor findings"},
		{"null", Plain, `null`, "neither a score nor findings"},
		{"findings without a score", Plain, `{"findings": [{"category": "a"}]}`, "a finding without a score"},
		{"a list", Plain, `[{"score": 1}]`, "not JSON"},
		{"two documents", Plain, `{"score": 0} {"score": 1}`, "not JSON"},
		{"a negative score", Plain, `{"score": -1}`, "not between 0 and 1"},
		{"flagged without scores", OpenAI, `{"results": [{"flagged": true, "categories": {"S1": true, "S2": false}}]}`, "[s1 high 1]"},
		{"flagged without a reason", OpenAI, `{"results": [{"flagged": true}]}`, "[unsafe high 1]"},
		{"flagged with a low score", OpenAI, `{"results": [{"flagged": true, "categories": {"hate/threatening": true}, "category_scores": {"hate/threatening": 0.3}}]}`, "[hate/threatening low 0.3]"},
		{"high score and not flagged", OpenAI, `{"results": [{"flagged": false, "categories": {"hate": false}, "category_scores": {"hate": 0.7}}]}`, "[hate high 0.7]"},
		{"a category of pictures", OpenAI, `{"results": [{"flagged": false, "categories": {"illicit": null}, "category_scores": {"illicit": null}}]}`, "[]"},
		{"two results", OpenAI, `{"results": [{"flagged": false}, {"flagged": true}]}`, "one result"},
		{"no results", OpenAI, `{"results": []}`, "one result"},
		{"no flag", OpenAI, `{"results": [{"category_scores": {"hate": 0.1}}]}`, "one result"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t, Config{URL: "http://127.0.0.1/", Shape: tt.shape})
			verdicts, err := c.c.read([]byte(tt.answer))
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				return
			}
			var got []string
			for _, f := range c.findings("text", verdicts) {
				got = append(got, fmt.Sprint(f.Category, " ", f.Confidence, " ", f.Score))
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
}

// A server cannot make labels of metrics without end.
func TestCategoriesAreBounded(t *testing.T) {
	c := open(t, Config{URL: "http://127.0.0.1/"})
	names := map[string]bool{}
	for i := range 1000 {
		names[string(c.category(fmt.Sprint("c", i)))] = true
	}
	if len(names) != maxNames+1 || !names[string(Unsafe)] {
		t.Errorf("got %d names", len(names))
	}
}

// Whatever an answer is, reading it ends with verdicts in range or an error that has nothing of it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"score": 0.97, "category": "x"}`), false)
	f.Add([]byte(`{"results": [{"flagged": true, "categories": {"a": true}, "category_scores": {"a": 0.4}}]}`), true)
	f.Fuzz(func(t *testing.T, answer []byte, moderation bool) {
		shape := Plain
		if moderation {
			shape = OpenAI
		}
		c, err := New(Config{URL: "http://127.0.0.1/", Shape: shape})
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := c.c.read(answer)
		if err != nil {
			if len(verdicts) > 0 && !strings.Contains(err.Error(), "answer") {
				t.Errorf("got %v and %v", verdicts, err)
			}
			return
		}
		for _, found := range c.findings("text", verdicts) {
			if found.Score < 0 || found.Score > 1 || !categoryName.MatchString(string(found.Category)) {
				t.Errorf("got %+v", found)
			}
		}
	})
}
