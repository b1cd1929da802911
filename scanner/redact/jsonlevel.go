package redact

import (
	"strconv"
	"strings"
)

// level is an open object or array.
type level struct {
	object     bool
	secret     bool // all below is secret
	within     bool // so is all around it
	allowed    bool // all below stays
	typing     bool // its type comes next
	signed     bool // its provider signs what it holds
	properties bool // the object describes properties, as a JSON Schema does
	schema     bool // the object describes a secret
	spared     bool // what is below tells about fields, not their values
	hasName    bool // the name came
	named      bool // it is the name of a secret, so "value" is one
	naming     bool // the name comes next
	keys       int  // that came
	index      int  // of the element of an array
	path       int  // length of the path up to here
}

// push opens an object or array.
func (w *walker) push(b byte) bool {
	if len(w.levels) == maxDepth {
		return false
	}
	next := level{object: b == '{', secret: w.kind == secretKey}
	if n := len(w.levels); n > 0 {
		top := w.levels[n-1]
		if !top.object {
			w.path = strconv.AppendInt(append(w.path[:top.path], '/'), int64(top.index), 10)
		} else {
			key := w.path[min(top.path+1, len(w.path)):]
			next.properties = string(key) == "properties" || string(key) == "flows" // of a schema, of OAuth in OpenAPI
			next.spared = sparedKeys.HasFold(key)
			if strings.EqualFold(string(key), "community") {
				next.secret = false // people, not a string of SNMP
			}
		}
		// {"properties": {"password": {"type": "string"}}} describes a password.
		if top.properties && next.object {
			next.secret = false
		}
		next.spared = next.spared || top.spared || w.kind == sparedKey
		next.within = top.secret
		next.allowed = top.allowed
		next.secret = next.secret || top.secret
	}
	if next.allowed = next.allowed || w.kind == allowedKey; next.allowed {
		next.secret = false
	}
	if next.object && w.fields != nil {
		tag, named := w.fields.tag(w.path)
		if next.named = named; len(tag) > 0 {
			w.path = append(append(w.path, '@'), tag...)
		}
	}
	next.path = len(w.path)
	w.levels = append(w.levels, next)
	w.kind = openKey
	w.state = wantValueOrEnd
	if next.object {
		w.state = wantKeyOrEnd
	}
	w.put(b)
	return true
}

// pop closes an object or array.
func (w *walker) pop(b byte) bool {
	top := w.levels[len(w.levels)-1]
	w.settle(false)
	w.levels = w.levels[:len(w.levels)-1]
	w.path = w.path[:top.path]
	w.put(b)
	w.valueEnds()
	return true
}
