package langgraph

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/api/rest"
)

// writeSelected answers with a list of objects, of which only the selected members are shown; all, when
// nothing is selected.
func writeSelected[T any](w http.ResponseWriter, list []T, params []string) {
	names := selectedNames(params)
	if len(names) == 0 {
		rest.WriteJSON(w, list)
		return
	}
	cut := make([]map[string]json.RawMessage, len(list))
	for i, v := range list {
		cut[i] = map[string]json.RawMessage{}
		for name, value := range object(encode(v)) {
			if slices.Contains(names, name) {
				cut[i][name] = value
			}
		}
	}
	rest.WriteJSON(w, cut)
}

// selectedNames are names of a query: repeated, or an array of JSON.
func selectedNames(params []string) []string {
	var names []string
	for _, p := range params {
		var list []string
		switch {
		case p == "":
		case json.Unmarshal([]byte(p), &list) == nil:
			names = append(names, list...)
		default:
			names = append(names, strings.Trim(p, `"`))
		}
	}
	return names
}
