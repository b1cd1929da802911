package classifier

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/svc-gateway/svc/internal/strictjson"
)

// verdict is what a server says of a text under one category.
type verdict struct {
	category string
	score    float64
	flagged  bool // the server itself takes it for a threat
}

// request is the body of a call.
func (c Config) request(piece string) ([]byte, error) {
	var q struct {
		Input any    `json:"input"`
		Model string `json:"model,omitempty"`
	}
	q.Input, q.Model = piece, c.Model
	if c.Shape == OpenAI {
		q.Input = []string{piece}
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	return body, nil
}

var (
	errNoJSON = errors.New("the answer is not JSON of the configured shape")
	errScore  = errors.New("the answer has a score that is not between 0 and 1")
)

// read reads an answer. Nothing of it gets into the error.
func (c Config) read(answer []byte) (verdicts []verdict, err error) {
	if strictjson.Check(answer) != nil {
		return nil, errNoJSON
	}
	if c.Shape == OpenAI {
		verdicts, err = readModeration(answer)
	} else {
		verdicts, err = readPlain(answer)
	}
	for _, v := range verdicts {
		if v.score < 0 || v.score > 1 {
			return nil, errScore
		}
	}
	return verdicts, err
}

// readPlain reads an answer of the protocol of our own.
func readPlain(answer []byte) ([]verdict, error) {
	type scored struct {
		Category string   `json:"category"`
		Score    *float64 `json:"score"`
	}
	var a struct {
		scored
		Findings *[]scored `json:"findings"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return nil, errNoJSON
	}
	switch {
	case a.Findings == nil && a.Score == nil:
		return nil, errors.New("the answer has neither a score nor findings")
	case a.Findings == nil:
		return []verdict{{category: a.Category, score: *a.Score}}, nil
	}
	var verdicts []verdict
	for _, f := range *a.Findings {
		if f.Score == nil {
			return nil, errors.New("the answer has a finding without a score")
		}
		verdicts = append(verdicts, verdict{category: f.Category, score: *f.Score})
	}
	return verdicts, nil
}

// readModeration reads an answer of POST /v1/moderations. A category without a score has that of what the
// server says: 1 or 0.
func readModeration(answer []byte) ([]verdict, error) {
	var a struct {
		Results []struct {
			Flagged    *bool               `json:"flagged"`
			Categories map[string]*bool    `json:"categories"`
			Scores     map[string]*float64 `json:"category_scores"`
		} `json:"results"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return nil, errNoJSON
	}
	if len(a.Results) != 1 || a.Results[0].Flagged == nil {
		return nil, errors.New("the answer does not have one result that says whether the text is flagged")
	}
	r := a.Results[0]
	var verdicts []verdict
	told := false
	for name, score := range r.Scores {
		if score == nil { // of a kind of input that this one is not
			continue
		}
		is := r.Categories[name]
		verdicts = append(verdicts, verdict{name, *score, is != nil && *is})
		told = told || is != nil && *is
	}
	for name, is := range r.Categories {
		if r.Scores[name] == nil && is != nil && *is {
			verdicts, told = append(verdicts, verdict{name, 1, true}), true
		}
	}
	if *r.Flagged && !told { // and does not say why
		verdicts = append(verdicts, verdict{score: 1, flagged: true})
	}
	return verdicts, nil
}
