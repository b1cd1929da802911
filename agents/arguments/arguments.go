// Package arguments is what the gate does with the arguments of a call whatever its tool is: checking their
// form, binding a decision to them, and looking for injections in them.
//
// All of it is pure and safe for concurrent use.
package arguments

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gowebpki/jcs"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-gateway/svc/scanner"
)

// Compile makes the validator of a tool's arguments of its JSON Schema.
func Compile(tool string, parameters json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(parameters)))
	if err != nil {
		return nil, fmt.Errorf("reading the parameters of tool %s: %w", tool, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nowhere{})
	url := "tool:" + tool
	if err := compiler.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("adding the parameters of tool %s: %w", tool, err)
	}
	schema, err := compiler.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("compiling the parameters of tool %s: %w", tool, err)
	}
	return schema, nil
}

// nowhere is where a schema finds others: its own would otherwise read files.
type nowhere struct{}

// Load implements [jsonschema.URLLoader].
func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the schema: put it in", url)
}

// Digest binds a decision to exactly one call: hex SHA-256 of the RFC 8785 form of {agent,
// arguments, run, tool}. The error is that of arguments which have no such form.
func Digest(run, agent, tool, arguments string) (string, error) {
	doc, err := json.Marshal(map[string]any{
		"run": run, "agent": agent, "tool": tool, "arguments": json.RawMessage(arguments),
	})
	if err != nil {
		return "", fmt.Errorf("encoding the call: %w", err)
	}
	canonical, err := jcs.Transform(doc)
	if err != nil {
		return "", fmt.Errorf("bringing the call into canonical form: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// Scan looks for injections in every string of the arguments.
func Scan(v any, scan func(string) []scanner.Finding) []scanner.Finding {
	switch v := v.(type) {
	case string:
		return scan(v)
	case []any:
		var found []scanner.Finding
		for _, e := range v {
			found = append(found, Scan(e, scan)...)
		}
		return found
	case map[string]any:
		var found []scanner.Finding
		for _, e := range v {
			found = append(found, Scan(e, scan)...)
		}
		return found
	}
	return nil
}
