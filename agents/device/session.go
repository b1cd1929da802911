package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// What becomes of a device that does not do what it should.
var (
	errSlow   = errors.New("it did not answer in time")
	errClosed = errors.New("it closed the connection")
	errFlood  = errors.New("it sends more than is read")
)

const (
	settle  = 30 * time.Millisecond  // of silence after a prompt, which may stand in the middle of a text
	doubt   = 400 * time.Millisecond // the same after a question, which is less certain
	maxTail = 512                    // bytes of the last line that are looked at
	chunk   = 4 << 10
)

// session is a terminal on a device.
type session struct {
	platform *platform
	in       io.Writer
	came     <-chan []byte // closed when the device has closed the connection
	left     int           // bytes that may still come
	prompt   *regexp.Regexp
	mode     string // what stands in the prompt after the name, such as (config)
	last     string // the prompt as it was
}

// open opens a terminal and waits for the first prompt. The session ends with the client.
func open(ctx context.Context, client *ssh.Client, p *platform, most int) (*session, error) {
	s, err := client.NewSession()
	if err != nil {
		return nil, closed(ctx)
	}
	in, err1 := s.StdinPipe()
	out, err2 := s.StdoutPipe()
	err3 := s.RequestPty("vt100", 500, 511, ssh.TerminalModes{})
	if errors.Join(err1, err2, err3, s.Shell()) != nil {
		return nil, errors.New("it gives no terminal")
	}
	came := make(chan []byte)
	go func() { // ends when the client is closed
		defer close(came)
		for {
			b := make([]byte, chunk)
			n, err := out.Read(b)
			if n > 0 {
				select {
				case came <- b[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	t := &session{platform: p, in: in, came: came, left: most, prompt: p.prompt}
	if _, err := t.wait(ctx, nil); err != nil {
		return nil, fmt.Errorf("waiting for the first prompt: %w", err)
	}
	t.learn()
	for _, line := range p.quiet {
		if _, err := t.command(ctx, line, nil); err != nil { // not every version knows all of them
			return nil, fmt.Errorf("turning the pager off: %w", err)
		}
	}
	return t, nil
}

// learn has later prompts begin with the name in this one. Modes may shorten a long name.
func (t *session) learn() {
	m := t.platform.prompt.FindStringSubmatch(t.last)
	name := regexp.QuoteMeta(m[1][:min(len(m[1]), 20)])
	t.prompt = regexp.MustCompile(`^(` + name + `[A-Za-z0-9_.:/-]*)(\([A-Za-z0-9_.:/ -]{1,40}\))?[>#] ?$`)
}

// command sends a line and returns what the device says until it waits again. answers are given to the
// questions that it asks, in their order.
func (t *session) command(ctx context.Context, line string, answers []string) (string, error) {
	if err := t.send(ctx, line); err != nil {
		return "", err
	}
	raw, err := t.wait(ctx, answers)
	text := plain(raw)
	first, rest, _ := strings.Cut(text, "\n")
	if strings.HasSuffix(strings.TrimSpace(first), strings.TrimSpace(line)) {
		text = rest // the echo
	}
	return strings.Trim(text, "\n"), err
}

// send sends a line, whose characters were checked by who made it.
func (t *session) send(ctx context.Context, line string) error {
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errors.New("a control character is not sent to a device")
	}
	if _, err := io.WriteString(t.in, line+"\n"); err != nil {
		return closed(ctx)
	}
	return nil
}

// closed is why a connection is at its end: it is closed here when the time is over.
func closed(ctx context.Context) error {
	if ctx.Err() != nil {
		return errSlow
	}
	return errClosed
}

// wait reads until the device waits for a command, and returns what came before its prompt; with an error,
// what came at all.
func (t *session) wait(ctx context.Context, answers []string) ([]byte, error) {
	var got []byte
	var quiet *time.Timer
	var silence <-chan time.Time
	defer func() {
		if quiet != nil {
			quiet.Stop()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return got, errSlow
		case b, ok := <-t.came:
			if !ok {
				return got, closed(ctx)
			}
			if t.left -= len(b); t.left < 0 {
				return append(got, b[:max(0, len(b)+t.left)]...), errFlood
			}
			got = append(got, b...)
			if quiet != nil {
				quiet.Stop()
			}
			silence = nil
			if pause := t.pause(tail(got)); pause > 0 {
				quiet = time.NewTimer(pause)
				silence = quiet.C
			}
		case <-silence:
			silence = nil
			last := tail(got)
			switch m := t.prompt.FindStringSubmatch(last); {
			case m != nil:
				t.mode, t.last = m[2], last
				return got[:bytes.LastIndexByte(got, '\n')+1], nil
			case pager.MatchString(last):
				got = got[:bytes.LastIndexByte(got, '\n')+1]
				if _, err := io.WriteString(t.in, " "); err != nil {
					return got, closed(ctx)
				}
			case len(answers) == 0:
				return got, &questionError{last}
			default:
				if err := t.send(ctx, answers[0]); err != nil {
					return got, err
				}
				answers = answers[1:]
			}
		}
	}
}

// pause is how long it has to be silent after a last line that may mean that the device waits; 0: it does
// not wait.
func (t *session) pause(last string) time.Duration {
	switch {
	case t.prompt.MatchString(last), pager.MatchString(last):
		return settle
	case question.MatchString(last):
		return doubt
	}
	return 0
}

// tail is the line that is not ended, as it is shown.
func tail(got []byte) string {
	line := got[bytes.LastIndexByte(got, '\n')+1:]
	if len(line) > maxTail {
		return ""
	}
	return string(shown(line))
}

// questionError says that a device asks something that nobody has answered.
type questionError struct{ question string }

func (e *questionError) Error() string {
	return fmt.Sprintf("it asks %q, and nothing was answered: give what it is to be told in answers", plain([]byte(strings.TrimSpace(e.question))))
}

// privileged makes the session one that may see and change the configuration.
func (t *session) privileged(ctx context.Context, l Login) error {
	if !t.platform.enable || !strings.HasSuffix(strings.TrimSpace(t.last), ">") {
		return nil
	}
	if l.Enable == "" {
		return fmt.Errorf("the login %s has not enough rights on it: set enable in the block device_login %[1]s", l.Name)
	}
	if err := t.send(ctx, "enable"); err != nil {
		return err
	}
	_, err := t.wait(ctx, []string{string(l.Enable)})
	if asked := new(questionError); errors.As(err, &asked) || err == nil && strings.HasSuffix(strings.TrimSpace(t.last), ">") {
		return fmt.Errorf("it refuses the password of enable of the login %s", l.Name)
	}
	return err
}
