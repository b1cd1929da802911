package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/policy"
)

// Reasons for which a run or a call ends before it is done; they are causes of contexts.
var (
	errToolTimeout      = errors.New("the tool did not end in time")
	errRunTimeout       = errors.New("the run took too long")
	errCancelled        = errors.New("cancelled")
	errRestart          = errors.New("the service is stopping")
	errPrincipalChanged = errors.New("the user was revoked or changed roles while the call was being recorded")
)

// panicError is a panic of a tool.
type panicError struct {
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprintf("the tool panicked: %v", e.value) }

// callStatus is the state in which an error leaves a call.
func callStatus(err error) CallStatus {
	switch {
	case err == nil:
		return CallSuccess
	case errors.Is(err, errPrincipalChanged):
		return CallDenied
	case errors.Is(err, errToolTimeout), errors.Is(err, errRunTimeout), errors.Is(err, context.DeadlineExceeded):
		return CallTimeout
	case errors.Is(err, errCancelled), errors.Is(err, errRestart), errors.Is(err, context.Canceled):
		return CallCancelled
	}
	return CallError
}

// tellModel is what the model learns of a call that went wrong, with the output so far.
func tellModel(tool string, status CallStatus, output string, err error) string {
	text := err.Error()
	var p *panicError
	switch {
	case errors.As(err, &p):
		text = "the tool failed unexpectedly"
	case status == CallTimeout:
		text = "the tool did not end in time and was stopped"
	case status == CallCancelled:
		text = "the call was cancelled"
	}
	text = fmt.Sprintf("%s: %s: %s", status, tool, text)
	if output != "" {
		text += "\noutput so far:\n" + output
	}
	return text
}

// modelFailure is what a client may see of a model's error.
func modelFailure(err error) *Failure {
	switch {
	case errors.Is(err, errRunTimeout):
		return &Failure{"run_timeout", err.Error()}
	case errors.Is(err, model.ErrBadResponse):
		return &Failure{"model_bad_response", err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{"model_timeout", "the model did not answer in time"}
	case errors.Is(err, model.ErrUnavailable):
		return &Failure{"model_unavailable", err.Error()}
	}
	return &Failure{"model_error", "the model's turn failed"}
}

// reason names why a principal or a record was refused, without detail that is not ours.
func reason(err error) string {
	for _, known := range []error{policy.ErrRevoked, policy.ErrExpired} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// maxResult bounds the text of one result, in bytes.
const maxResult = 128 << 10

// validText makes text valid UTF-8 of bounded size.
func validText(s string) string {
	if len(s) > maxResult {
		cut := maxResult
		for !utf8.RuneStart(s[cut]) && cut > maxResult-utf8.UTFMax {
			cut--
		}
		s = s[:cut] + "\n[cut: the result was longer]"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
