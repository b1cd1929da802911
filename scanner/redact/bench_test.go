package redact

import (
	"encoding/json"
	"strings"
	"testing"

	real "github.com/svc-gateway/svc/internal/contents"
)

// ordinary is text as an agent writes it, without secrets.
var ordinary = strings.Repeat("The root file system of this host is 42 % full: 18.3 GB of 43.6 GB are used, and /var/log grows by "+
	"about 120 MB a day. Nothing needs to be done now. If you want, I can look for the largest folders, "+
	"compare them with last week's figures, or set an alert at 85 percent. See https://docs.example.com/disks.\n", 40)

func BenchmarkTextStream(b *testing.B) {
	src, dst := []byte(ordinary), make([]byte, 0, 4096)
	r := NewTextStream()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i < len(src); i += 200 {
			dst = r.Append(dst[:0], src[i:min(i+200, len(src))])
		}
	}
}

func BenchmarkTextStreamFullOfSecrets(b *testing.B) {
	src, dst := []byte(strings.Repeat("username bob password 7 0822455D0A16, and password=hunter2 for https://bob:hunter2@example.com/\n", 100)), make([]byte, 0, 4096)
	r := NewTextStream()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i < len(src); i += 200 {
			dst = r.Append(dst[:0], src[i:min(i+200, len(src))])
		}
	}
}

func BenchmarkText(b *testing.B) {
	b.SetBytes(int64(len(ordinary)))
	b.ReportAllocs()
	for b.Loop() {
		Text(ordinary)
	}
}

// BenchmarkEventStream is events of 80 bytes, as a model's answer has them.
func BenchmarkEventStream(b *testing.B) {
	var src []byte
	for word := range strings.FieldsSeq(ordinary[:4000]) {
		src = append(src, "data: {\"type\":\"message_chunk\",\"content\":\""+word+" and some more of the text \"}\n\n"...)
	}
	r, dst := NewEventStream(), make([]byte, 0, len(src))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		dst = r.Append(dst[:0], src)
	}
}

// BenchmarkEventStreamEvents is the chunks of a chat completion as a reverse proxy flushes them: one event
// at a time, now and then with an escape or with a mark.
func BenchmarkEventStreamEvents(b *testing.B) {
	var events [][]byte
	n := 0
	for word := range strings.FieldsSeq(ordinary[:4000]) {
		if n++; n%10 == 0 {
			word += `.\n`
		}
		events = append(events, []byte(`data: {"id":"chatcmpl-9f8e7d6c5b4a","object":"chat.completion.chunk","created":1750000000,"model":"some-model",`+
			`"choices":[{"index":0,"delta":{"content":" `+word+`"},"finish_reason":null}]}`+"\n\n"))
	}
	r, dst, i := NewEventStream(), make([]byte, 0, 1024), 0
	b.ReportAllocs()
	for b.Loop() {
		dst = r.Append(dst[:0], events[i%len(events)])
		i++
	}
}

func BenchmarkJSONStream(b *testing.B) {
	doc, _ := json.Marshal(map[string]any{"messages": []any{map[string]any{"role": "user", "content": ordinary[:1000]}}, "n": 1.5, "tools": []string{"a", "b"}})
	r, dst := NewJSONStream(), make([]byte, 0, len(doc))
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		dst = r.Close(r.Append(dst[:0], doc))
	}
}

// BenchmarkContents redacts what agents are really sent, each kind as a whole text.
func BenchmarkContents(b *testing.B) {
	for _, k := range real.Kinds() {
		b.Run(strings.ReplaceAll(k.Name, " ", "_"), func(b *testing.B) {
			b.SetBytes(int64(len(k.Text)))
			b.ReportAllocs()
			for b.Loop() {
				Text(k.Text)
			}
		})
	}
}
