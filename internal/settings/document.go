package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// entry is one value of a document: a setting's words, or one of the lists of objects.
type entry struct {
	key     string
	place   string // file:line
	words   []string
	agents  []AsyncSubagent
	issuers []Issuer
}

// document reads the JSON form of the settings: an object of sections. name stands for it in
// errors. Where lax is set, numbers may be written as strings, as a placeholder leaves them.
// What could be read is returned besides the errors.
func document(name string, data []byte, lax bool) ([]entry, error) {
	r := &reader{name: name, data: data, dec: json.NewDecoder(bytes.NewReader(data)), lax: lax}
	if err := r.open("the settings"); err != nil {
		return nil, err
	}
	var seen []string
	for r.dec.More() {
		section, at, err := r.key(&seen, "")
		if err != nil {
			return nil, err
		}
		switch {
		case section == AsyncSubagentsKey:
			if err := r.subagents(at); err != nil {
				return nil, err
			}
		case section == IssuersKey:
			if err := r.issuers(at); err != nil {
				return nil, err
			}
		case IsSection(section):
			if err := r.section(section); err != nil {
				return nil, err
			}
		default:
			r.errs = append(r.errs, fmt.Errorf("%s: %w", at, Unknown(section)))
			if err := r.skip(); err != nil {
				return nil, err
			}
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return nil, r.syntax(err)
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: something follows the end of the settings", r.place())
	}
	return r.entries, errors.Join(r.errs...)
}

// reader walks a document token by token, so that every complaint has its line.
type reader struct {
	name    string
	data    []byte
	dec     *json.Decoder
	lax     bool
	entries []entry
	errs    []error
}

func (r *reader) place() string {
	n := min(int(r.dec.InputOffset()), len(r.data))
	return fmt.Sprintf("%s:%d", r.name, 1+bytes.Count(r.data[:n], []byte("\n")))
}

// syntax places an error of the decoder.
func (r *reader) syntax(err error) error {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		n := min(int(s.Offset), len(r.data))
		return fmt.Errorf("%s:%d: this is not valid JSON: %w", r.name, 1+bytes.Count(r.data[:n], []byte("\n")), s)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: this is not valid JSON: the file ends too early", r.place())
	}
	return fmt.Errorf("%s: %w", r.place(), err)
}

// open reads the { that begins an object called what.
func (r *reader) open(what string) error {
	t, err := r.dec.Token()
	if err != nil {
		return r.syntax(err)
	}
	if t != json.Delim('{') {
		return fmt.Errorf("%s: %s must be a JSON object, {…}", r.place(), what)
	}
	return nil
}

// key reads a name and refuses one that was there before.
func (r *reader) key(seen *[]string, prefix string) (string, string, error) {
	t, err := r.dec.Token()
	if err != nil {
		return "", "", r.syntax(err)
	}
	k, ok := t.(string)
	at := r.place()
	if !ok {
		return "", "", fmt.Errorf("%s: this is not valid JSON: a name in quotes is expected", at)
	}
	if slices.Contains(*seen, k) {
		r.errs = append(r.errs, fmt.Errorf("%s: %s%s is set twice", at, prefix, k))
	}
	*seen = append(*seen, k)
	return k, at, nil
}

func (r *reader) skip() error {
	var raw json.RawMessage
	if err := r.dec.Decode(&raw); err != nil {
		return r.syntax(err)
	}
	return nil
}

func (r *reader) section(section string) error {
	if err := r.open(section); err != nil {
		return err
	}
	var seen []string
	for r.dec.More() {
		name, at, err := r.key(&seen, section+".")
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := r.dec.Decode(&raw); err != nil {
			return r.syntax(err)
		}
		key := section + "." + name
		o, ok := lookup(key)
		if !ok {
			r.errs = append(r.errs, fmt.Errorf("%s: %w", at, Unknown(key)))
			continue
		}
		words, err := o.decode(raw, r.lax)
		if err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %s: %w", at, key, err))
			continue
		}
		r.entries = append(r.entries, entry{key: key, place: at, words: words})
	}
	_, err := r.dec.Token()
	if err != nil {
		return r.syntax(err)
	}
	return nil
}

// decode turns a JSON value into words, by the option's kind.
func (o option) decode(raw json.RawMessage, lax bool) ([]string, error) {
	var s string
	isText := json.Unmarshal(raw, &s) == nil && raw[0] == '"'
	switch o.kind {
	case kindList, kindNames:
		if isText {
			return o.words(s), nil
		}
		var all []string
		if json.Unmarshal(raw, &all) != nil || raw[0] != '[' {
			return nil, fmt.Errorf(`%s is not a list of strings such as ["a", "b"]`, raw)
		}
		return all, nil
	case kindNumber, kindSize:
		if isText && (lax || o.kind == kindSize) {
			return []string{s}, nil
		}
		var n json.Number
		if isText || raw[0] == 'n' || json.Unmarshal(raw, &n) != nil {
			return nil, fmt.Errorf("%s is not a number", raw)
		}
		return []string{n.String()}, nil
	case kindBool:
		if isText && lax {
			return []string{s}, nil
		}
		var b bool
		if isText || raw[0] == 'n' || json.Unmarshal(raw, &b) != nil {
			return nil, fmt.Errorf("%s is neither true nor false", raw)
		}
		return []string{strconv.FormatBool(b)}, nil
	case kindReference:
		if !isText {
			return nil, errNoReference
		}
		return []string{s}, nil
	default:
		if !isText {
			return nil, fmt.Errorf("%s is not a string; write it in quotes", raw)
		}
		return []string{s}, nil
	}
}

var subagentFields = []string{"name", "description", "url", "assistant_id", "api_key_env"}

// subagents reads the list of remote sub-agents.
func (r *reader) subagents(at string) error {
	var list json.RawMessage
	if err := r.dec.Decode(&list); err != nil {
		return r.syntax(err)
	}
	var raw []map[string]json.RawMessage
	if list[0] != '[' || json.Unmarshal(list, &raw) != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %s must be a list of objects with %v", at, AsyncSubagentsKey, subagentFields))
		return nil
	}
	e := entry{key: AsyncSubagentsKey, place: at, agents: make([]AsyncSubagent, len(raw))}
	for i, fields := range raw {
		for f, v := range fields {
			var s string
			if !slices.Contains(subagentFields, f) {
				r.errs = append(r.errs, fmt.Errorf("%s: %s[%d].%s is not a setting%s", at, AsyncSubagentsKey, i, f, didYouMean(f, subagentFields)))
				continue
			}
			if json.Unmarshal(v, &s) != nil {
				r.errs = append(r.errs, fmt.Errorf("%s: %s[%d].%s must be a string", at, AsyncSubagentsKey, i, f))
				continue
			}
			switch f {
			case "name":
				e.agents[i].Name = s
			case "description":
				e.agents[i].Description = s
			case "url":
				e.agents[i].URL = s
			case "assistant_id":
				e.agents[i].AssistantID = s
			case "api_key_env":
				e.agents[i].APIKeyEnv = s
			}
		}
	}
	r.entries = append(r.entries, e)
	return nil
}

// issuers reads the list of identity providers.
func (r *reader) issuers(at string) error {
	e := entry{key: IssuersKey, place: at, issuers: []Issuer{}}
	t, err := r.dec.Token()
	if err != nil {
		return r.syntax(err)
	}
	if t != json.Delim('[') {
		return fmt.Errorf("%s: %s must be a list of objects, [{…}]", at, IssuersKey)
	}
	for r.dec.More() {
		i, err := r.issuer(fmt.Sprintf("%s[%d]", IssuersKey, len(e.issuers)))
		if err != nil {
			return err
		}
		e.issuers = append(e.issuers, i)
	}
	if _, err := r.dec.Token(); err != nil {
		return r.syntax(err)
	}
	r.entries = append(r.entries, e)
	return nil
}

// issuer reads one of them, which errors call by the name at.
func (r *reader) issuer(at string) (Issuer, error) {
	i := Issuer{Leeway: defaultLeeway}
	if err := r.open(at); err != nil {
		return i, err
	}
	broken := len(r.errs)
	begins := r.place()
	var seen []string
	for r.dec.More() {
		name, place, err := r.key(&seen, at+".")
		if err != nil {
			return i, err
		}
		var raw json.RawMessage
		if err := r.dec.Decode(&raw); err != nil {
			return i, r.syntax(err)
		}
		if err := i.set(name, raw); err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %s: %w", place, at, err))
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return i, r.syntax(err)
	}
	if len(r.errs) == broken {
		if err := i.complete(); err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %s: %w", begins, at, err))
		}
	}
	return i, nil
}
