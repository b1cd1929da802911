// Package jsonform holds JSON documents to the form of a Go type, as its JSON Schema tells it.
//
//	form, err := jsonform.Of(new(Request))
//	err = form.Check(doc) // input.messages[0].role: must be one of user assistant, got "system"
//	err = jsonv2.Unmarshal(doc, &request)
//
// The text is read once, from the first byte to the last, and no tree of it is made: a document of
// many small values needs no more memory than one large string. Members that the type does not have
// are passed over. The schema is the one that the OpenAPI document is made of; a keyword that this
// package does not know is an error of [Of], so that nothing is promised and not checked.
//
// A Form does not change and is safe for concurrent use.
package jsonform

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/swaggest/jsonschema-go"
)

// Form is what a document has to look like.
type Form struct{ root *node }

// node is the form of one value.
type node struct {
	kind       string // as JSON Schema names types
	required   []string
	properties map[string]*node
	items      *node
	enum       []string
	minLength  int64
	minItems   int64
	maxItems   int64 // 0: any number
	uuid       bool
}

// Of makes the form of the type that v points to.
func Of(v any) (*Form, error) {
	var r jsonschema.Reflector
	s, err := r.Reflect(v, jsonschema.InlineRefs)
	if err != nil {
		return nil, fmt.Errorf("describing %T: %w", v, err)
	}
	root, err := compile(&s)
	if err != nil {
		return nil, fmt.Errorf("describing %T: %w", v, err)
	}
	return &Form{root}, nil
}

// known are the keywords that compile heeds, and those that ask for nothing.
var known = []string{
	"type", "required", "properties", "items", "enum", "minLength", "minItems", "maxItems", "format",
	"description", "default", "title", "additionalProperties",
}

// anything are the schemas that ask for nothing.
var anything = []string{"true", "{}"}

func compile(s *jsonschema.Schema) (*node, error) {
	if err := checkKeywords(s); err != nil {
		return nil, err
	}
	n := &node{required: s.Required, minLength: s.MinLength, minItems: s.MinItems}
	switch {
	case s.Type == nil:
	case s.Type.SimpleTypes == nil:
		return nil, errors.New("several types: write nullable:\"false\" to the field, or leave null out")
	default:
		n.kind = string(*s.Type.SimpleTypes)
	}
	if s.MaxItems != nil {
		n.maxItems = *s.MaxItems
	}
	for _, e := range s.Enum {
		word, ok := e.(string)
		if !ok {
			return nil, fmt.Errorf("enum has %v, which is no string", e)
		}
		n.enum = append(n.enum, word)
	}
	if s.Format != nil {
		if *s.Format != "uuid" {
			return nil, fmt.Errorf("unknown format %q", *s.Format)
		}
		n.uuid = true
	}
	for name, p := range s.Properties {
		child, err := compile(p.TypeObject)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if n.properties == nil {
			n.properties = map[string]*node{}
		}
		n.properties[name] = child
	}
	if s.Items != nil && s.Items.SchemaOrBool != nil {
		var err error
		if n.items, err = compile(s.Items.SchemaOrBool.TypeObject); err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
	}
	return n, nil
}

func checkKeywords(s *jsonschema.Schema) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var words map[string]json.RawMessage
	if err := json.Unmarshal(text, &words); err != nil {
		return err
	}
	for word, value := range words {
		if !slices.Contains(known, word) || word == "additionalProperties" && !slices.Contains(anything, string(value)) {
			return fmt.Errorf("unknown keyword %s", word)
		}
	}
	return nil
}
