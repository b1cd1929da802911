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

	"github.com/svc-gateway/svc/agents/model/fakeanthropic"
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
// with -sequence by how many were asked for. With -recorded each file is the body of an answer
// as a server sent it. With -anthropic it speaks the protocol of that provider. With -at its
// address is in that variable, and the service is not told of it.
func startModel(c *call) error {
	f := flag.NewFlagSet("model", flag.ContinueOnError)
	f.SetOutput(&c.err)
	sequence := f.Bool("sequence", false, "one turn a request")
	recorded := f.Bool("recorded", false, "the files are bodies of answers, one a request")
	ofAnthropic := f.Bool("anthropic", false, "it speaks that provider's protocol")
	at := f.String("at", "", "variable for its address")
	if err := f.Parse(c.args); err != nil {
		return err
	}
	if f.NArg() == 0 || f.NArg() > 1 && !*recorded {
		return errors.New("usage: model [-sequence] [-anthropic] [-at VARIABLE] FILE, or model -recorded FILE...")
	}
	if *ofAnthropic {
		return startAnthropic(c, f.Arg(0), *at)
	}
	var turns []turn
	if *recorded {
		for _, file := range f.Args() {
			turns = append(turns, turn{Turn: fakeopenai.Turn{Fault: fakeopenai.Garbage, Raw: c.ts.ReadFile(file)}})
		}
	} else if err := json.Unmarshal([]byte(c.ts.ReadFile(f.Arg(0))), &turns); err != nil {
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
		if !*sequence && !*recorded {
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
	c.pointAt("openai", server.BaseURL(), *at)
	return nil
}

// pointAt tells the service of a model, or puts its address into a variable.
func (c *call) pointAt(provider, address, variable string) {
	if variable != "" {
		c.ts.Setenv(variable, address)
		return
	}
	c.ts.Setenv("SVC_MODEL_PROVIDER", provider)
	c.ts.Setenv("SVC_MODEL_BASE_URL", address)
	c.ts.Setenv("SVC_MODEL_NAME", "fake")
}

// startAnthropic does the same for Anthropic's protocol, one turn a request. What the server
// refused is in the log of the test.
func startAnthropic(c *call, file, at string) error {
	var turns []fakeanthropic.Turn
	if err := json.Unmarshal([]byte(c.ts.ReadFile(file)), &turns); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	log, err := os.Create(c.ts.MkAbs("model.log"))
	if err != nil {
		return err
	}
	server := fakeanthropic.Start(func(n int, r fakeanthropic.Request) fakeanthropic.Turn {
		if _, err := log.Write(append(r.Body, '\n')); err != nil {
			return fakeanthropic.Turn{Status: http.StatusInternalServerError}
		}
		return turns[min(n, len(turns)-1)]
	})
	c.cleanup(func() {
		server.Close()
		_ = log.Close()
		for _, refused := range server.Refused() {
			c.ts.Logf("the model's server refused a request: %s", refused)
		}
	})
	c.pointAt("anthropic", server.URL(), at)
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
