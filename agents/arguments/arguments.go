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

	"github.com/gowebpki/jcs"

	"github.com/svc-gateway/svc/scanner"
)

// Digest binds a decision to exactly one call: hex SHA-256 of the RFC 8785 form of {agent,
// arguments, revision, run, tool}, without the revision where there is none. The error is that of arguments
// which have no such form.
func Digest(run, agent, tool, revision, arguments string) (string, error) {
	call := map[string]any{"run": run, "agent": agent, "tool": tool, "arguments": json.RawMessage(arguments)}
	if revision != "" {
		call["revision"] = revision
	}
	doc, err := json.Marshal(call)
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

// Scan looks for injections in every string of a JSON value, such as arguments or a schema; names of members
// are strings, too.
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
		for name, e := range v {
			found = append(found, scan(name)...)
			found = append(found, Scan(e, scan)...)
		}
		return found
	}
	return nil
}
