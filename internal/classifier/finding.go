package classifier

import (
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner"
)

const (
	// Unsafe is the category of what a server gives no name.
	Unsafe scanner.Category = "unsafe"
	// maxNames is how many names of categories are taken from a server: they are labels of metrics. All
	// further ones are Unsafe.
	maxNames = 64
)

// categoryName is what names of categories look like. They stand in headers, separated by commas.
var categoryName = regexp.MustCompile(`^[a-z0-9][a-z0-9_/.-]{0,47}$`)

// findings are what the verdicts about a piece amount to. A score that reaches the threshold is a finding of
// high confidence; what does not and is flagged by the server is one of low confidence.
func (c *Classifier) findings(piece string, verdicts []verdict) (found []scanner.Finding) {
	for _, v := range verdicts {
		confidence := scanner.High
		if v.score < c.c.Threshold {
			if !v.flagged {
				continue
			}
			confidence = scanner.Low
		}
		found = append(found, scanner.Finding{
			Category: c.category(v.category), Rule: Rule, Confidence: confidence, End: len(piece),
			Excerpt: scanner.Excerpt(piece), View: scanner.ViewText, Score: v.score,
		})
	}
	slices.SortFunc(found, func(a, b scanner.Finding) int { return strings.Compare(string(a.Category), string(b.Category)) })
	return found
}

// category is the category of a name that a server gives.
func (c *Classifier) category(name string) scanner.Category {
	name = strings.ToLower(strings.ReplaceAll(name, " ", "_"))
	if !categoryName.MatchString(name) {
		return Unsafe
	}
	known := scanner.Category(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.names[known] {
		if len(c.names) >= maxNames {
			return Unsafe
		}
		c.names[known] = true
	}
	return known
}
