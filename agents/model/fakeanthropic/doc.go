// Package fakeanthropic is a server for tests that speaks Anthropic's messages protocol on the wire: the requests
// it takes are checked as strictly as the real one checks them, signatures of thoughts included, and its answers
// have the real one's form, streamed or whole. What it answers is scripted, faults included.
//
//	s := fakeanthropic.Start(fakeanthropic.Sequence(
//		fakeanthropic.Turn{Thinking: "I should look.", Calls: []fakeanthropic.Call{{Name: "run_command", Input: `{"command":"df -h"}`}}},
//		fakeanthropic.Turn{Text: []string{"The disk ", "is half full."}},
//	))
//	defer s.Close()
//	m, err := model.NewAnthropic(model.Config{BaseURL: s.URL(), Model: "claude-sonnet-4-5"})
//
// It was written from the provider's documentation and its published client; the real server was not reached.
// A Server is safe for concurrent use. Close ends answers that are being held back.
package fakeanthropic
