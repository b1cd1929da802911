package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/contain"
	"github.com/svc-gateway/svc/internal/lease"
	"github.com/svc-gateway/svc/policy"
)

// Reasons for which a run or a call ends before it is done; they are causes of contexts.
var (
	errToolTimeout      = errors.New("the tool did not end in time")
	errRunTimeout       = errors.New("the run took too long")
	errCancelled        = errors.New("cancelled")
	errRestart          = errors.New("the service is stopping")
	errNotBegun         = fmt.Errorf("%w: the run ended while the call waited", errCancelled)
	errDied             = errors.New("the service stopped while the call was under way")
	errDemoted          = errors.New("the run's user has a weaker role than at its start")
	errPrincipalChanged = errors.New("the user was revoked or changed roles while the call was being recorded")
)

// callStatus is the state in which an error leaves a call.
func callStatus(err error) CallStatus {
	if l, ok := errors.AsType[*agentLimit](err); ok {
		return l.status
	}
	switch {
	case err == nil:
		return CallSuccess
	case errors.Is(err, errPrincipalChanged):
		return CallDenied
	case errors.Is(err, errDied):
		return CallUnknown
	case errors.Is(err, errToolTimeout), errors.Is(err, errRunTimeout), errors.Is(err, context.DeadlineExceeded):
		return CallTimeout
	case errors.Is(err, errCancelled), errors.Is(err, errRestart), errors.Is(err, lease.ErrLost), errors.Is(err, context.Canceled):
		return CallCancelled
	}
	return CallError
}

// tellModel is what the model learns of a call that went wrong, with the output so far.
func tellModel(tool string, status CallStatus, output string, err error) string {
	text := err.Error()
	var p *contain.Panic
	switch {
	case errors.As(err, &p):
		text = "the tool failed unexpectedly"
	case status == CallTimeout && !tooSlow(err):
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
		return &Failure{"run_timeout", errRunTimeout.Error()}
	case errors.Is(err, model.ErrBadResponse):
		return &Failure{"model_bad_response", model.ClientMessage(err)}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, model.ErrTimeout):
		return &Failure{"model_timeout", model.ClientMessage(err)}
	case errors.Is(err, model.ErrUnavailable):
		return &Failure{"model_unavailable", model.ClientMessage(err)}
	}
	return &Failure{"model_error", "the model's turn failed"}
}

// noAudit ends a run that cannot be recorded.
var noAudit = &Failure{"audit_unavailable", "the audit log cannot be written, and no tool runs until it can"}

// principalFailure is what an error about a run's principal means for the run.
func principalFailure(err error) *Failure {
	for _, known := range []error{policy.ErrRevoked, policy.ErrExpired} {
		if errors.Is(err, known) {
			return &Failure{"principal_revoked", "the run's user may no longer act: " + known.Error()}
		}
	}
	if errors.Is(err, errDemoted) {
		return &Failure{"principal_demoted", errDemoted.Error()}
	}
	return &Failure{"identity_unavailable", "it cannot be found out whether the run's user may still act"}
}

// notMade is the outcome of a call that the end of its run came before.
func notMade(c Call) outcome {
	return outcome{status: CallCancelled, text: "cancelled: the run ended before this call", labels: []string{"tool:" + c.Name}}
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
