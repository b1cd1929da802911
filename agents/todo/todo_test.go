package todo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/todo"
)

func TestParse(t *testing.T) {
	long := strings.Repeat("x", todo.MaxContent+1)
	many := "[" + strings.TrimSuffix(strings.Repeat(`{"content":"a","status":"pending"},`, todo.MaxItems+1), ",") + "]"
	for _, tc := range []struct{ name, in, want, err string }{
		{"a plan", `[{"content":" look ","status":"completed"},{"content":"act","status":"in_progress"},{"content":"tell","status":"pending"}]`, "[x] look\n[>] act\n[ ] tell\n", ""},
		{"empty", `[]`, "", ""},
		{"no list", `{}`, "", "todos: want a list"},
		{"no object", `["a"]`, "", "todos[0]: want an object with content and status"},
		{"no content", `[{"status":"pending"}]`, "", "todos[0].content: it is empty"},
		{"blank", `[{"content":"  ","status":"pending"}]`, "", "todos[0].content: it is empty"},
		{"long", `[{"content":"` + long + `","status":"pending"}]`, "", "todos[0].content: it is longer than 300 characters"},
		{"lines", `[{"content":"a\nb","status":"pending"}]`, "", "todos[0].content: it has a line break"},
		{"a terminal's codes", `[{"content":"a\u001b[2Jb","status":"pending"}]`, "", "control character"},
		{"another status", `[{"content":"a","status":"pending"},{"content":"b","status":"done"}]`, "", `todos[1].status: "done" is none of`},
		{"too many", many, "", "51 items, of 50 at most"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var v any
			if err := json.Unmarshal([]byte(tc.in), &v); err != nil {
				t.Fatal(err)
			}
			items, err := todo.Parse(v)
			if got := todo.Text(items); got != tc.want {
				t.Error(cmp.Diff(tc.want, got))
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
		})
	}
}

func TestCount(t *testing.T) {
	got := todo.Count([]todo.Item{{Status: todo.Completed}, {Status: todo.Pending}, {Status: todo.Pending}})
	if want := "The plan has 3 items: 1 completed, 0 in progress, 2 pending."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
