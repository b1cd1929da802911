// Package schema compiles JSON Schemas that strangers wrote: a model's user, a server of tools.
//
//	s, err := schema.Compile("the parameters of tool look", text)
//	err = s.Check(value)
//
// Compiling reads nothing but the text: a reference to elsewhere is an error. A schema that would be costly
// to check with is refused, and so is a value that is too large for its schema, so that the work of a check is
// bounded. All of it is safe for concurrent use.
package schema

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-gateway/svc/internal/strictjson"
)

// MaxBytes bounds the text of a schema.
const MaxBytes = 64 << 10

// maxParts bounds the parts of a schema, each counted as often as it is referred to.
const maxParts = 4000

var (
	errTooLarge  = fmt.Errorf("it has more than %d KiB", MaxBytes>>10)
	errTooCostly = fmt.Errorf("it has more than %d parts, those counted as often as they are referred to", maxParts)
	errRecursive = errors.New("a part of it refers to itself: write out as many levels as are needed")
)

// Schema checks values. Get one with [Compile].
type Schema struct {
	compiled *jsonschema.Schema
	parts    int
}

// Compile reads a schema. what says in errors which one it is, such as "the output schema".
func Compile(what string, text []byte) (*Schema, error) {
	s, err := compile(text)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	return s, nil
}

func compile(text []byte) (*Schema, error) {
	if len(text) > MaxBytes {
		return nil, errTooLarge
	}
	if err := strictjson.Check(text); err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	const url = "schema:it"
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // which knows no scheme
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	s, err := c.Compile(url)
	if err != nil {
		return nil, err
	}
	m := meter{sizes: map[*jsonschema.Schema]int{}}
	n, err := m.size(s)
	if err != nil {
		return nil, err
	}
	return &Schema{s, n}, nil
}
