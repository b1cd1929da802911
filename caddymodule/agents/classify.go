package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/caddymodule/metric"
	"github.com/svc-gateway/svc/internal/classifier"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
	statistical "github.com/svc-gateway/svc/scanner/model"
	"github.com/svc-gateway/svc/scanner/redact"
)

// newScan returns what finds injections: the rules, the statistical detector where it is wanted, and the
// operator's own classifier where there is one, which is returned, too.
func newScan(s settings.Settings, secrets *redact.Secrets, registry *prometheus.Registry, log *zap.Logger) (func(text string) []scanner.Finding, *classifier.Classifier, error) {
	scan := inject.Scan
	if s.Runtime.ScanModel {
		scan = func(text string) []scanner.Finding { return append(inject.Scan(text), statistical.Scan(text)...) }
	}
	outside, err := newClassifier(s.Classifier, secrets, log)
	if outside == nil || err != nil {
		return scan, nil, err
	}
	set := metric.NewCommonSet(registry, "runtime_classifier")
	calls := set.Calls()
	if err := set.Err(); err != nil {
		return nil, nil, err
	}
	observe := func(result string, took time.Duration, open bool) { calls.Observe(result, took, open) }
	closed := s.Classifier.Fail == settings.FailClosed
	return func(text string) []scanner.Finding {
		found := scan(text)
		if !classifier.Telling(text) {
			return found
		}
		more, err := outside.Classify(context.Background(), text, observe) // each call has a time-out of its own
		if err != nil && closed {
			more = append(more, untold(text, err))
		}
		return append(found, more...)
	}, outside, nil
}

// untold is the finding in a text about which the classifier does not tell.
func untold(text string, err error) scanner.Finding {
	why := classifier.ResultFailed
	if e, ok := errors.AsType[*classifier.Error](err); ok {
		why = e.Result
	}
	return scanner.Finding{
		Category: scanner.PartlyScanned, Rule: classifier.Rule, Confidence: scanner.High, End: len(text),
		Excerpt: "the classifier did not tell: " + why, View: scanner.ViewText,
	}
}

// newClassifier returns the classifier of the settings, nil where there is none.
func newClassifier(s settings.Classifier, secrets *redact.Secrets, log *zap.Logger) (*classifier.Classifier, error) {
	if s.URL == "" {
		return nil, nil
	}
	c := classifier.Config{
		URL: s.URL, Shape: s.Shape, Model: s.Model, CAFile: s.CAFile, Timeout: s.Timeout, Threshold: s.Threshold, Failures: s.Failures,
		Pause: s.Pause, MaxText: int(s.MaxText), Piece: int(s.Piece), Calls: s.Calls, Unchanged: s.Unredacted, Secrets: secrets, Log: log,
	}
	key, err := revealAny("classifier.api_key", s.APIKey)
	if err != nil {
		return nil, err
	}
	c.Key = classifier.Secret(key)
	outside, err := classifier.New(c)
	if err != nil {
		return nil, fmt.Errorf("classifier: %w", err)
	}
	return outside, nil
}
