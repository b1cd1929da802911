//go:build linux

package testscript

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"

	"github.com/svc-gateway/svc/agents/model/fakeopenai"
)

// turn is an answer of the model as a script writes it.
type turn struct {
	fakeopenai.Turn
	// Free is how many chunks come before the answer is held back until release; 0: it is not.
	Free int
}

// startModel starts a language model and points the service at it. Which turn it takes is
// decided by how many answers follow the last question, so that runs side by side do not meet;
// with -sequence by how many were asked for.
func startModel(c *call) error {
	f := flag.NewFlagSet("model", flag.ContinueOnError)
	f.SetOutput(&c.err)
	sequence := f.Bool("sequence", false, "one turn a request")
	if err := f.Parse(c.args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return errors.New("usage: model [-sequence] FILE")
	}
	var turns []turn
	if err := json.Unmarshal([]byte(c.ts.ReadFile(f.Arg(0))), &turns); err != nil {
		return fmt.Errorf("reading %s: %w", f.Arg(0), err)
	}
	log, err := os.Create(c.ts.MkAbs("model.log"))
	if err != nil {
		return err
	}
	released := make(chan struct{})
	server := fakeopenai.Start(func(n int, r fakeopenai.Request) fakeopenai.Turn {
		if _, err := log.Write(append(r.Body, '\n')); err != nil {
			return fakeopenai.Turn{Status: http.StatusInternalServerError}
		}
		if !*sequence {
			n = answersSinceQuestion(r)
		}
		t := turns[min(n, len(turns)-1)]
		if t.Free > 0 {
			t.Hold = hold(t.Free, released)
		}
		return t.Turn
	})
	let := sync.OnceFunc(func() { close(released) })
	c.cleanup(func() {
		let()
		server.Close()
		_ = log.Close()
	})
	c.releases = append(c.releases, let)
	c.ts.Setenv("SVC_MODEL_PROVIDER", "openai")
	c.ts.Setenv("SVC_MODEL_BASE_URL", server.BaseURL())
	c.ts.Setenv("SVC_MODEL_NAME", "fake")
	return nil
}

func answersSinceQuestion(r fakeopenai.Request) int {
	n := 0
	for _, m := range r.Messages {
		switch m.Role {
		case "user":
			n = 0
		case "assistant":
			n++
		}
	}
	return n
}

// hold lets a number of chunks pass and the others after the release.
func hold(free int, released <-chan struct{}) <-chan struct{} {
	passes := make(chan struct{}, free)
	for range free {
		passes <- struct{}{}
	}
	go func() {
		<-released
		close(passes)
	}()
	return passes
}

// release lets everything go on that holds back.
func release(c *call) error {
	if len(c.releases) == 0 {
		return errors.New("nothing holds back")
	}
	for _, r := range c.releases {
		r()
	}
	c.releases = nil
	return nil
}
