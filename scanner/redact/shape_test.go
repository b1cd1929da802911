package redact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// bytewise appends src byte by byte: no event is ever there as a whole, so none is compared
// with a shape.
func bytewise(r *EventStream, dst, src []byte) []byte {
	for i := range src {
		dst = r.Append(dst, src[i:i+1])
	}
	return dst
}

// checkShapes compares what becomes of events that come as a whole with what becomes of their bytes.
func checkShapes(t *testing.T, events []string, cuts []byte) {
	t.Helper()
	secrets := NewSecrets()
	for _, value := range []string{"some text pass", "-----x yy"} {
		if err := secrets.Register(value); err != nil {
			t.Fatal(err)
		}
	}
	checkShapesWith(t, nil, events, cuts)
	checkShapesWith(t, secrets, events, cuts)
}

func checkShapesWith(t *testing.T, secrets *Secrets, events []string, cuts []byte) {
	t.Helper()
	var found, expected []Finding
	fast := secrets.Watched(nil, func(f Finding) { found = append(found, f) }).EventStream()
	slow := secrets.Watched(nil, func(f Finding) { expected = append(expected, f) }).EventStream()
	var got, want []byte
	for i, e := range events {
		got, want = fast.Append(got, []byte(e)), bytewise(slow, want, []byte(e))
		if string(got) != string(want) {
			t.Fatalf("after event %d of\n%s\n got %q\nwant %q", i, strings.Join(events, ""), got, want)
		}
	}
	if got, want = fast.Close(got), slow.Close(want); string(got) != string(want) {
		t.Fatalf("after\n%s\n got %q\nwant %q", strings.Join(events, ""), got, want)
	}
	if !slices.Equal(found, expected) {
		t.Fatalf("after\n%s\nfound %v\nwant %v", strings.Join(events, ""), found, expected)
	}
	stream := strings.Join(events, "")
	whole := secrets.EventStream()
	if got := string(whole.Close(whole.Append(nil, []byte(stream)))); got != string(want) {
		t.Fatalf("whole stream\n%s\n got %q\nwant %q", stream, got, want)
	}
	if got := split(secrets.EventStream(), stream, cuts); got != string(want) {
		t.Fatalf("stream\n%s\ncut by %v\n got %q\nwant %q", stream, cuts, got, want)
	}
}

// look is what becomes of an event.
type look uint8

const (
	wholly  look = iota // it is looked at as a whole
	closely             // one text of it is looked at closely
	passes
)

func lookAt(r *EventStream, event string) look {
	shape, _ := r.knownShape([]byte(event))
	switch {
	case shape == nil:
		return wholly
	case slices.ContainsFunc(shape.slots, func(t slot) bool { return t.marked }):
		return closely
	}
	return passes
}

// An event whose shape is known passes as it is, or but for one text.
func TestShape(t *testing.T) {
	for _, tt := range []struct {
		name, before, event string
		look                look
	}{
		{"text", `{"type":"text","content":"a"}`, `{"type":"text","content":"b c"}`, passes},
		{"empty text", `{"type":"text","content":"a"}`, `{"type":"text","content":""}`, passes},
		{"other type", `{"type":"text","content":"a"}`, `{"type":"more","content":"o"}`, passes},
		{"numbers", `{"seq":1,"at":1.5e-3,"content":"a"}`, `{"seq":-20,"at":0.25,"content":"o"}`, passes},
		{"escapes", `{"content":"a"}`, `{"content":"\n\"\u003c\ud83d\ude00\ud83d"}`, passes},
		{"deep", `{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`, `{"choices":[{"index":0,"delta":{"content":"o"},"finish_reason":null}]}`, passes},
		{"no string", `{"n":1}`, `{"n":2}`, passes},
		{"other index", `{"index":0,"content":"a"}`, `{"index":1,"content":"a"}`, wholly},
		{"other key", `{"content":"a"}`, `{"contents":"a"}`, wholly},
		{"name of a secret", `{"name":"user","value":"a"}`, `{"name":"password","value":"a"}`, wholly},
		{"named secret", `{"name":"password","value":""}`, `{"name":"password","value":"a"}`, wholly},
		{"redacted", `{"content":"a","password":"x"}`, `{"content":"a","password":"x"}`, wholly},
		{"redacted in front", `{"password":"x","content":"a"}`, `{"password":"x","content":"a"}`, wholly},
		{"flag of a secret", `{"args":["-v","a"],"n":1}`, `{"args":["--password","a"],"n":1}`, wholly},
		{"secret key", `{"password":"","n":1}`, `{"password":"a","n":1}`, wholly},
		{"secret number", `{"password":null,"n":1}`, `{"password":1,"n":1}`, wholly},
		{"beginning of a token", `{"content":"a"}`, `{"content":"the last gh"}`, passes},
		{"beginning of a token alone", `{"content":"a"}`, `{"content":"gh"}`, closely},
		{"mark inside of a word", `{"content":"a"}`, `{"content":"the disks"}`, passes},
		{"all of the text again", `{"content":"hello"}`, `{"content":"hello"}`, passes},
		{"all of the text and more", `{"content":"hello"}`, `{"content":"hello you"}`, passes},
		{"all of the text and a mark", `{"content":"the pass"}`, `{"content":"the password=x"}`, wholly},
		{"mark", `{"content":"a"}`, `{"content":"password"}`, closely},
		{"escaped mark", `{"content":"a"}`, `{"content":"passwor\u0064"}`, closely},
		{"mark and a text that goes on", `{"a":"o","b":"a"}`, `{"a":"no password=hunter2 ","b":"o"}`, closely},
		{"two marks", `{"a":"o","b":"a"}`, `{"a":"password=x","b":"password=y"}`, wholly},
		{"mark and the beginning of a token", `{"a":"o","b":"a"}`, `{"a":"password=x","b":"the last gh"}`, wholly},
		{"mark in what may name the next", `{"parts":["o","a"]}`, `{"parts":["--password","o"]}`, wholly},
		{"mark in a name", `{"field":"o","value":"a"}`, `{"field":"password","value":"o"}`, wholly},
		{"mark in what may be JSON", `{"content":""}`, `{"content":"{\"password\":\"y\"}"}`, wholly},
		{"mark and no JSON behind it", `{"content":"a"}`, "{\"content\":\"password=x\t\"}", wholly},
		{"mark and no end", `{"content":"a"}`, `{"content":"password=x`, wholly},
		{"mark in two events", `{"content":"a passw"}`, `{"content":"ord"}`, wholly},
		{"mark in a string of its own", `{"id":"a"}`, `{"id":"password=x"}`, wholly},
		{"after a mark", `{"content":"password"}`, `{"content":"x"}`, wholly},
		{"one text twice", `{"content":"a","content":"b"}`, `{"content":"a","content":"b"}`, wholly},
		{"elements", `{"parts":["a"]}`, `{"parts":["o"]}`, passes},
		{"leading zero", `{"n":1}`, `{"n":01}`, wholly},
		{"no fraction", `{"n":1}`, `{"n":1.}`, wholly},
		{"no exponent", `{"n":1}`, `{"n":1e+}`, wholly},
		{"no digits", `{"n":1}`, `{"n":-}`, wholly},
		{"no escape", `{"content":"a"}`, `{"content":"\x"}`, wholly},
		{"half an escape", `{"content":"a"}`, `{"content":"\u00`, wholly},
		{"control character", `{"content":"a"}`, "{\"content\":\"\t\"}", wholly},
		{"not JSON", `{"content":"a"}`, `{"content":"a"`, wholly},
		{"more", `{"content":"a"}`, `{"content":"a"} `, wholly},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, format := range []string{"data: %s\n\n", "data:%s\r\n\r\n", "data: %s\r\r", "data: %s\nid: 7\n\n"} {
				before, event := fmt.Sprintf(format, tt.before), strings.Replace(fmt.Sprintf(format, tt.event), "id: 7", "id: 18", 1)
				r := NewEventStream()
				r.Append(nil, []byte(before))
				r.cr = false
				if got := lookAt(r, event); got != tt.look {
					t.Errorf("%q: got look %d, want %d", event, got, tt.look)
				}
				checkShapes(t, []string{before, event, before, event}, []byte{5})
			}
		})
	}
}

// A shape belongs to the name of the event, as its texts do.
func TestShapeOfName(t *testing.T) {
	a, b := "event: a\ndata: {\"content\":\"user pass\"}\n\n", "event: b\ndata: {\"content\":\"word=x \"}\n\n"
	checkShapes(t, []string{a, b, a, b, a, "data: {\"content\":\"word=x \"}\n\n", a, a, strings.Replace(b, ": b", ": a", 1)}, []byte{9})
}

// The id in the line after the data may be another number, which is no secret that is known.
func TestShapeWithID(t *testing.T) {
	secrets := NewSecrets()
	if err := secrets.Register("31415926535"); err != nil {
		t.Fatal(err)
	}
	event := func(id, text string) string { return fmt.Sprintf("data: {\"content\":%q}\n%s\n\n", text, id) }
	for _, tt := range []struct {
		id    string
		known bool
	}{
		{"id: 8", true},
		{"id:8", false},
		{"id: x8", false},
		{"id: 08", false},
		{"id", false},
		{"id: 8\nid: 9", false},
		{"id: 8\nretry: 1", false},
		{"id: 31415926535", false},
		{"retry: 8", false},
		{": 8", false},
		{"id: 8 ", false},
	} {
		r := secrets.EventStream()
		r.Append(nil, []byte(event("id: 7", "some ")))
		if shape, _ := r.knownShape([]byte(event(tt.id, "words "))); (shape != nil) != tt.known {
			t.Errorf("%q: got a known shape: %v, want %v", tt.id, shape != nil, tt.known)
		}
		checkShapesWith(t, secrets, []string{event("id: 7", "some "), event(tt.id, "words "), event("id: 9", "the pass"), event(tt.id, "word=x y")}, []byte{9, 30})
	}
}

// Data that is no JSON has no shape: it is a text as a whole.
func TestShapeOfText(t *testing.T) {
	checkShapes(t, []string{"data: the pass\n\n", "data: the pass\n\n", "data: , \n\n", "data: the pass\n\n", "data: word=x y\n\n"}, []byte{16})
}

// Texts that are forgotten take their shapes with them, be it at the end of a message or for
// want of room.
func TestShapeForgotten(t *testing.T) {
	piece := func(field, text string) string { return fmt.Sprintf("data: {%q:%q}\n\n", field, text) }
	first, second := piece("f", "the pass"), piece("f", "word=x y")
	checkShapes(t, []string{piece("f", "a"), piece("f", "http://h:1"), "data: [DONE]\n\n", first, second}, []byte{16})
	var events []string
	for i := range maxFields - 1 {
		events = append(events, piece(fmt.Sprint("f", i), "a"))
	}
	checkShapes(t, append(events, piece("f", "a"), piece("g", "a"), first, second), []byte{16})
}

// A document that is cut off inside of a string ends the text of that string, and keeps no event
// from passing.
func TestCutDocument(t *testing.T) {
	checkShapes(t, []string{"data: {\"content\":\"a -----\"}\n\n", "data: {\"content\":\"b\n\n", "data: \"\"\n\n", "data: \"\"\n\n"}, []byte{5})
}

// A snapshot waits for the next one where its end is not decided. The last one loses nothing.
func TestGrowing(t *testing.T) {
	event := func(text string) string {
		return fmt.Sprintf("event: messages/partial\ndata: [{\"content\":%q,\"id\":\"s\"}]\n\n", text)
	}
	checkShapes(t, []string{event("The "), event("The blue s"), event("The blue some text pa"), event("The blue some text passing")}, []byte{7})
	for _, last := range []string{"The s", "a gh", "gho", "the token"} {
		for _, stream := range []string{event(last), event("The ") + event(last), event(last) + event(last+"s"), event(last) + strings.Replace(event(last), "partial", "complete", 1)} {
			if got := redactEvents(stream); got != stream {
				t.Errorf("got %q, want %q", got, stream)
			}
		}
	}
}

// A text keeps to what was secret when it began.
func TestShapeRemovedSecret(t *testing.T) {
	secrets := NewSecrets()
	if err := secrets.Register("correct horse battery"); err != nil {
		t.Fatal(err)
	}
	r := secrets.EventStream()
	r.Append(nil, []byte("data: {\"content\":\"a \"}\n\n"))
	secrets.Remove("correct horse battery")
	got := string(r.Append(nil, []byte("data: {\"content\":\"correct horse battery staple\"}\n\n")))
	if want := "data: {\"content\":\"REDACTED staple\"}\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An event whose shape is known needs no memory.
func TestShapeAllocations(t *testing.T) {
	for _, format := range []string{"id: 7\nevent: text\ndata: %s\n\n", "event: text\ndata: %s\nid: 7\n\n"} {
		event := fmt.Appendf(nil, format, `{"type":"text","seq":12,"content":"some text\n"}`)
		r, dst := NewEventStream(), make([]byte, 0, 1024)
		r.Append(dst, bytes.Replace(event, []byte("some"), []byte("more"), 1))
		if n := testing.AllocsPerRun(100, func() { r.Append(dst, event) }); n > 0 {
			t.Errorf("%q: %v allocations an event", format, n)
		}
	}
}

// documents are the data of FuzzShape: each %s is a text, each %d a number.
var documents = strings.Split(`{"type":"text","content":"%s"}|{"content":"%s"}|{"type":"%s","content":"%s","n":%d}|{"index":%d,"delta":{"content":"%s"}}|`+
	`{"content":"%s","content":"%s"}|{"name":"%s","value":"%s"}|{"password":"%s","a":"%s"}|{"secret":%d,"a":"%s"}|{"a":["%s","%s"]}|{"input":["%s",{"x":"%s"}]}|`+
	`[{"a":"%s"},{"a":"%s"},%d]|{"id":"%s","content":"%s"}|{"id":"%s","content":"%s","n":%d}|"%s"|%s|{"type":"done"}|{"type":"%s"}|{ "a" : "%s" , "n" : %d }|{"%s":"%s"}|{"properties":{"password":{"type":"%s","a":"%s"}}}`, "|")

var inserts = append(strings.Split(`a|some text |\n|\"|\\|\u0070assword|passwor\u0064=|\u|\x|\ud83d|\ud83d\ude00|done|d\u006fne|"|ord|word=|sword|secr|et: |sv|c_|ey|J|user:|http:|//u:p|1.5|-3|1e9|01|ss`, "|"), fragments...)

// FuzzShape puts events together that are alike, so that most have a known shape.
func FuzzShape(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 7, 0, 0, 3, 0, 0, 21}, []byte{0})
	f.Add([]byte{17, 0, 0, 19, 2, 4, 2, 4, 2, 5, 3, 5, 3, 5, 3}, []byte{3, 60})
	f.Fuzz(func(t *testing.T, choice, cuts []byte) {
		if len(choice) > 300 {
			return
		}
		next := func() int {
			if len(choice) == 0 {
				return 0
			}
			c := choice[0]
			choice = choice[1:]
			return int(c)
		}
		var events []string
		for len(choice) > 0 {
			c := next()
			doc := documents[c%len(documents)]
			for strings.Contains(doc, "%") {
				i := strings.IndexByte(doc, '%')
				insert := fmt.Sprint(next() - 3)
				if doc[i+1] == 's' {
					insert = ""
					for n := next(); n&3 > 0; n-- {
						insert += inserts[next()%len(inserts)]
					}
				}
				doc = doc[:i] + strings.ReplaceAll(insert, "%", "") + doc[i+2:]
			}
			format := [...]string{
				"data: %s\n\n", "data: %s\n\n", "data: %s\n\n", "data:%s\r\n\r\n", "data: %s\r\r", "event: e\ndata: %s\n\n", "id: 1\ndata: %s\n\n",
				"data: %s\nid: NEXT\n\n", "event: messages/partial\ndata: %s\n\n", "event: values\ndata: %s\n\n",
			}[c/len(documents)%10]
			events = append(events, strings.Replace(fmt.Sprintf(format, doc), "NEXT", fmt.Sprint(len(events)), 1))
		}
		checkShapes(t, events, cuts)
	})
}
