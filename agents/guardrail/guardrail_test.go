package guardrail_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/guardrail"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/schema"
)

// done is a conversation with one call and its result.
func done(tool, arguments, status, result string) []model.Message {
	return []model.Message{
		{Role: model.RoleUser, Content: "how full are the disks?"},
		{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "c", Name: tool, Arguments: arguments}}},
		{Role: model.RoleTool, ToolCallID: "c", Name: tool, Status: status, Content: result},
	}
}

func TestCheck(t *testing.T) {
	form, err := schema.Compile("the form", []byte(`{"type":"object","properties":{"full":{"type":"integer"}},"required":["full"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	df := done("run_command", `{"command":"df -h \"/\""}`, "success", "/dev/sda1 40% used")
	denied := done("run_command", `{"command":"reboot"}`, "denied", "denied: The role does not permit this.")
	handed := done("delegate", `{"agent":"core","task":"look at the disks"}`, "success", "I ran `lsblk`: one disk.")
	var rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, "| host%02d | up | 10.0.0.%d |\n", i, i)
	}
	for _, tt := range []struct {
		name   string
		answer guardrail.Answer
		want   []string
	}{
		{"an answer", guardrail.Answer{Text: "The disk is 40% full."}, nil},
		{"empty", guardrail.Answer{}, []string{guardrail.Empty}},
		{"blank", guardrail.Answer{Text: " \n\t"}, []string{guardrail.Empty}},
		{"cut", guardrail.Answer{Text: "The disk is", Stopped: model.StopLength}, []string{guardrail.Cut}},
		{"refused by the server", guardrail.Answer{Text: "No.", Stopped: model.StopRefused}, []string{guardrail.Refused}},
		{"refused in words", guardrail.Answer{Text: "I'm sorry, but I can't help with that."}, []string{guardrail.Refused}},
		{"refused, curly", guardrail.Answer{Text: "I’m sorry, but as an AI I can’t do that."}, []string{guardrail.Refused}},
		{"refused in German", guardrail.Answer{Text: "Es tut mir leid, aber ich kann dabei nicht helfen."}, []string{guardrail.Refused}},
		{"refused in Spanish", guardrail.Answer{Text: "Lo siento, pero no puedo ayudarte con eso."}, []string{guardrail.Refused}},
		{"refused in Chinese", guardrail.Answer{Text: "抱歉，我无法帮助您完成这个请求。"}, []string{guardrail.Refused}},
		{"sorry for the wait", guardrail.Answer{Text: "Sorry for the wait: the disk is 40% full."}, nil},
		{"a limit that is told", guardrail.Answer{Text: "The role does not permit a restart. An admin can approve it."}, nil},
		{"a long answer after an excuse", guardrail.Answer{Text: "I'm sorry, but I can't see /root. " + strings.Repeat("Here is what I can tell of each folder below it. ", 3) + rows.String()}, nil},
		{"in circles", guardrail.Answer{Text: "The disk is full. " + strings.Repeat("I will look at it again. ", 40)}, []string{guardrail.Looping}},
		{"in circles, cut in the middle", guardrail.Answer{Text: strings.Repeat("and so on and ", 60) + "and so", Stopped: model.StopLength}, []string{guardrail.Cut, guardrail.Looping}},
		{"a word", guardrail.Answer{Text: "Go " + strings.Repeat("buffalo ", 80)}, []string{guardrail.Looping}},
		{"lines and zeros", guardrail.Answer{Text: "Table\n" + strings.Repeat("-", 400) + strings.Repeat("0000 ", 100)}, nil},
		{"rows that differ", guardrail.Answer{Text: rows.String()}, nil},
		{"the form", guardrail.Answer{Text: ` {"full": 40} `, Form: form}, nil},
		{"another form", guardrail.Answer{Text: `{"full": "40"}`, Form: form}, []string{guardrail.Form}},
		{"words around it", guardrail.Answer{Text: "Here you are: {\"full\": 40}", Form: form}, []string{guardrail.Form}},
		{"a name twice", guardrail.Answer{Text: `{"full": 40, "full": 41}`, Form: form}, []string{guardrail.Form}},
		{"long", guardrail.Answer{Text: "0123456789", MaxLen: 9}, []string{guardrail.Long}},

		{"a claim", guardrail.Answer{Text: "I ran df and the disk is 40% full."}, []string{guardrail.Claim}},
		{"a claim, perfect", guardrail.Answer{Text: "Done. I've restarted nginx."}, []string{guardrail.Claim}},
		{"a claim in German", guardrail.Answer{Text: "Ich habe den Befehl ausgeführt: alles in Ordnung."}, []string{guardrail.Claim}},
		{"a claim in Spanish", guardrail.Answer{Text: "Listo. He reiniciado nginx."}, []string{guardrail.Claim}},
		{"a claim in Italian", guardrail.Answer{Text: "Ho riavviato nginx."}, []string{guardrail.Claim}},
		{"a claim in French", guardrail.Answer{Text: "J'ai redémarré le service."}, []string{guardrail.Claim}},
		{"a claim after a call that was denied", guardrail.Answer{Text: "I have rebooted the host.", Done: denied}, []string{guardrail.Claim}},
		{"an output of something else", guardrail.Answer{Text: "The output of `ps aux` shows 3 processes.", Done: df}, []string{guardrail.Claim}},
		{"a claim at the end of a long text", guardrail.Answer{Text: strings.Repeat("It is idle, he said; `x` is high. ", 300) + "I’ve just deleted it."}, []string{guardrail.Claim}},
		{"an output behind many names", guardrail.Answer{Text: strings.Repeat("See `df` and `du -s`. ", 300) + "The result from the command `ps` was empty."}, []string{guardrail.Claim}},
		{"what was done", guardrail.Answer{Text: "I ran `df -h \"/\"`: 40% used.", Done: df}, nil},
		{"about what was done", guardrail.Answer{Text: "`df` shows that 40% are used.", Done: df}, nil},
		{"what a sub-agent did", guardrail.Answer{Text: "I ran `lsblk` through core: one disk.", Done: handed}, nil},
		{"a denial that is told", guardrail.Answer{Text: "I was not permitted to reboot: `reboot` failed with a denial.", Done: denied}, nil},
		{"documentation", guardrail.Answer{Text: "`vars()` returns a dictionary. A user said: \"I have written to you.\""}, nil},
		{"an output, present tense", guardrail.Answer{Text: "`ps aux` shows 3 processes."}, []string{guardrail.Claim}},
		{"what was not done", guardrail.Answer{Text: "I have not run anything. I did not restart it, and I will not."}, nil},
		{"what could be done", guardrail.Answer{Text: "If I ran df, I could tell. Shall I? Should I run it now?"}, nil},
		{"advice", guardrail.Answer{Text: "Run `df -h`. When you have deleted the logs, it shows the new figure."}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range guardrail.Check(tt.answer) {
				got = append(got, f.Check)
				if f.Detail == "" || strings.Contains(f.Detail, "\n") {
					t.Errorf("the detail of %s is %q, want one line", f.Check, f.Detail)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A loop is found however long its piece is, and wherever the text ends.
func FuzzLoop(f *testing.F) {
	f.Add("The answer is: ", "again ", 30)
	f.Fuzz(func(t *testing.T, before, piece string, times int) {
		if times < 1 || times > 200 || len(piece) > 1000 {
			return
		}
		looping := false
		for _, f := range guardrail.Check(guardrail.Answer{Text: before + strings.Repeat(piece, times)}) {
			looping = looping || f.Check == guardrail.Looping
		}
		trimmed := strings.TrimSpace(piece)
		if !looping && times >= 8 && times*len(piece) >= 400 && times*len(piece) < 8<<10 && trimmed == piece && isWord(piece) {
			t.Errorf("%d times %q is not found", times, piece)
		}
	})
}

func isWord(s string) bool {
	return len(s) > 0 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

func BenchmarkCheck(b *testing.B) {
	text := strings.Repeat("The service nginx listens on port 443 and has been up for 12 days. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		guardrail.Check(guardrail.Answer{Text: "x " + text + "The end."})
	}
}
