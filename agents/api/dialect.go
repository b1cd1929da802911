package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"

	"github.com/svc-gateway/svc/agents/api/langgraph"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/internal/credentials"
	"github.com/svc-gateway/svc/internal/problem"
)

// Dialect is how a request is to be understood, and how its stream looks.
type Dialect string

// The dialects.
const (
	Spec      Dialect = "spec"
	LangGraph Dialect = "langgraph"
)

// Dialects are the words for them.
func Dialects() []string { return []string{string(Spec), string(LangGraph)} }

// specKeys are what a body has in the specification's dialect. A body that has no others may be of either.
var specKeys = []string{"input", "assistant_id", "thread_id", "user_id", "auto_approve"}

// sdkAgent is how the published clients call themselves.
var sdkAgent = regexp.MustCompile(`^langgraph-sdk`)

// dialectOf is what a request with a body speaks. The first of these that says something counts:
//
//  1. the parameter dialect or the header X-Stream-Dialect;
//  2. it is langgraph with a key in the body that only that dialect has, such as stream_mode; with the
//     header x-api-key, which a stage in front may have taken out; from a client that calls itself
//     langgraph-sdk…; with a message that has a type and no role; with an input that has something else
//     than messages;
//  3. otherwise the site's option default_stream_dialect. What is left to it is a body that both know:
//     the smallest one that the published client sends looks like the specification's.
//
// The header Accept tells nothing: the published client sends */*.
func dialectOf(r *http.Request, body []byte, otherwise Dialect) (Dialect, error) {
	for _, named := range []string{r.URL.Query().Get("dialect"), r.Header.Get("X-Stream-Dialect")} {
		switch {
		case named == "":
		case slices.Contains(Dialects(), named):
			return Dialect(named), nil
		default:
			return "", problem.Problem{
				Status: http.StatusUnprocessableEntity, Code: "invalid_dialect",
				Detail: "dialect (or X-Stream-Dialect): must be spec or langgraph",
			}
		}
	}
	if credentials.Keyed(r) || sdkAgent.MatchString(r.UserAgent()) || graphBody(body) {
		return LangGraph, nil
	}
	return otherwise, nil
}

// graphBody reports whether a body is none of the specification's dialect, and makes sense in the other.
func graphBody(body []byte) bool {
	var keys map[string]json.RawMessage
	if json.Unmarshal(body, &keys) != nil {
		return false
	}
	for key := range keys {
		if !slices.Contains(specKeys, key) && langgraph.Knows(key) {
			return true
		}
	}
	return graphInput(keys["input"])
}

// graphInput reports whether an input has more than messages, or messages in the other dialect's form.
func graphInput(input json.RawMessage) bool {
	var values map[string]json.RawMessage
	if json.Unmarshal(input, &values) != nil {
		return false
	}
	var messages []json.RawMessage
	if json.Unmarshal(values["messages"], &messages) == nil && slices.ContainsFunc(messages, typed) {
		return true
	}
	delete(values, "messages")
	return len(values) > 0
}

// typed reports whether a message has a type and no role.
func typed(message json.RawMessage) bool {
	var has map[string]json.RawMessage
	return json.Unmarshal(message, &has) == nil && has["type"] != nil && has["role"] == nil
}

// speaks reads the body of a request, which stays there to be read, and says what the request speaks.
func speaks(s *rest.Server, w http.ResponseWriter, r *http.Request) (Dialect, error) {
	body, err := s.Peek(w, r, s.Options.BodyBytes)
	if err != nil {
		return "", err
	}
	otherwise := Spec
	if s.Options.Dialect != "" {
		otherwise = Dialect(s.Options.Dialect)
	}
	return dialectOf(r, body, otherwise)
}
