package settings

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Reference says where a secret is: {env.NAME}, an environment variable, or {file./path}, the
// content of a file without the line end. It is not the secret and may be shown.
type Reference string

var reference = regexp.MustCompile(`^\{(env|file)\.([^{}]+)\}$`)

// Reveal gets the secret. env is os.LookupEnv. The error never holds any of it.
func (r Reference) Reveal(env func(string) (string, bool)) (string, error) {
	m := reference.FindStringSubmatch(string(r))
	if m == nil {
		return "", errNoReference
	}
	if m[1] == "env" {
		v, _ := env(m[2])
		if v == "" {
			return "", fmt.Errorf("%s is not set: put the secret into it", m[2])
		}
		return v, nil
	}
	data, err := os.ReadFile(m[2])
	if err != nil {
		return "", fmt.Errorf("reading the secret: %w", err)
	}
	v := strings.TrimRight(string(data), "\r\n")
	if v == "" {
		return "", fmt.Errorf("the file %s is empty: put the secret into it", m[2])
	}
	return v, nil
}

var errNoReference = errors.New("this is not {env.NAME} or {file./path}: put the secret into a variable or a file and say here where it is, never the secret itself")

// Check refuses what is no reference. The error never holds any of it.
func (r Reference) Check() error { return checkReference(string(r)) }

// checkReference never repeats the value: it may be the secret itself.
func checkReference(v string) error {
	m := reference.FindStringSubmatch(v)
	if m == nil || m[1] == "env" && !envName.MatchString(m[2]) || m[1] == "file" && !strings.HasPrefix(m[2], "/") {
		return errNoReference
	}
	return nil
}

// IsReference reports whether a key of that name, without its section, says where a secret is.
// Whoever replaces placeholders leaves those alone.
func IsReference(name string) bool {
	for _, o := range options {
		if o.kind == kindReference && strings.HasSuffix(o.name, "."+name) {
			return true
		}
	}
	return slices.ContainsFunc(lists, func(l objectList) bool { return l.isReference(name) })
}

func (o *objects[T]) isReference(name string) bool {
	f, ok := find(o.fields, name)
	return ok && f.kind == kindReference
}
