package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/classifier"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/model"
)

// What can be done about a finding of high confidence, the mildest first. One of low confidence is
// logged and no more.
const (
	actionLog      = "log"
	actionAnnotate = "annotate"
	actionBlock    = "block"
)

var actionNames = []string{actionLog, actionAnnotate, actionBlock}

// anyCategory stands for the categories that have no action of their own.
const anyCategory = "*"

var categoryNames = []string{
	string(scanner.RoleHijacking), string(scanner.DataExfiltration), string(scanner.PrivilegeEscalation),
	string(scanner.InvisibleCharacters), string(scanner.URLHomograph), string(scanner.PartlyScanned),
}

// checkActions refuses names that do not exist.
func checkActions(actions map[string]string) error {
	for category, action := range actions {
		if category != anyCategory && !slices.Contains(categoryNames, category) {
			return fmt.Errorf("action: unknown category %q: want some of %s", category, strings.Join(categoryNames, ", "))
		}
		if !slices.Contains(actionNames, action) {
			return fmt.Errorf("action: unknown action %q: want log, annotate or block", action)
		}
	}
	return nil
}

// kind is what the action about a finding depends on.
type kind struct {
	category scanner.Category
	by       judge
}

// judge is who has made a finding.
type judge uint8

const (
	rules judge = iota
	statistics
	outside // the classifier
)

func kindOf(f scanner.Finding) kind {
	switch f.Rule {
	case model.Rule:
		return kind{f.Category, statistics}
	case classifier.Rule:
		return kind{f.Category, outside}
	}
	return kind{f.Category, rules}
}

// actionFor returns what is done about findings of a kind. Those of the statistical detector and of the
// classifier have an action of their own, whatever their category is.
func (h *Handler) actionFor(k kind) string {
	switch k.by {
	case statistics:
		return h.Model
	case outside:
		return h.Classifier.action()
	case rules:
	}
	if a, ok := h.Actions[string(k.category)]; ok {
		return a
	}
	if a, ok := h.Actions[anyCategory]; ok {
		return a
	}
	return actionLog
}

// does reports whether an action is configured for any finding.
func (h *Handler) does(action string) bool {
	if h.Model == action || h.Classifier != nil && h.Classifier.action() == action {
		return true
	}
	for _, a := range h.Actions {
		if a == action {
			return true
		}
	}
	return false
}
