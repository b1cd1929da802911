package policy

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/conf"
)

// language is what the expressions of one phase may use.
type language struct {
	phase   string // what is decided on, for people
	env     any    // a pointer to a struct; its tags are the names
	vars    map[string]reflect.Type
	options []expr.Option // of any expression
}

// functions are the builtin functions of expr that expressions may use: none of them looks at
// anything but its arguments, and none changes anything.
var functions = []string{
	"all", "any", "none", "one", "filter", "map", "find",
	"len", "first", "last", "keys", "values",
	"lower", "upper", "trim", "trimPrefix", "trimSuffix", "split", "join", "replace", "hasPrefix", "hasSuffix", "indexOf",
	"int", "float", "string", "abs", "ceil", "floor", "round", "min", "max",
}

// ownFunctions are those that are not expr's.
var ownFunctions = []expr.Option{
	expr.Function("under", func(p ...any) (any, error) { return under(p[0].(string), p[1].(string)), nil }, new(func(string, string) bool)),
}

// The languages of the phases.
var (
	callLanguage    = newLanguage("a call", &env{})
	requestLanguage = newLanguage("a request", &conditionEnv{})
	outputLanguage  = newLanguage("an answer", &outputEnv{})
)

// language is what the expressions of rules of the phase may use.
func (p Phase) language() *language {
	switch p {
	case OnRequest:
		return requestLanguage
	case OnOutput:
		return outputLanguage
	}
	return callLanguage
}

func newLanguage(phase string, env any) *language {
	l := &language{phase: phase, env: env, vars: fields(reflect.TypeOf(env).Elem())}
	l.options = []expr.Option{
		expr.Env(env), expr.MaxNodes(maxNodes), expr.DisableAllBuiltins(),
	}
	for _, name := range functions {
		l.options = append(l.options, expr.EnableBuiltin(name))
	}
	l.options = append(l.options, ownFunctions...)
	return l
}

// condition are the options of an expression that is true or false.
func (l *language) condition() []expr.Option {
	return append(slices.Clone(l.options), expr.AsBool(), expr.WarnOnAny())
}

// config is what the options make of expr's configuration.
func (l *language) config() *conf.Config {
	c := conf.CreateNew()
	for _, option := range l.options {
		option(c)
	}
	for name := range c.Disabled {
		delete(c.Builtins, name)
	}
	return c
}

// fields are the names of a struct by their tags.
func fields(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("expr"); name != "" && name != "-" {
			all[name] = t.Field(i).Type
		}
	}
	return all
}

// names are all dotted names of the language, sorted: principal, principal.user, and so on.
func (l *language) names() []string {
	var all []string
	for name, t := range l.vars {
		all = append(all, name)
		if t.Kind() == reflect.Struct {
			for field := range fields(t) {
				all = append(all, name+"."+field)
			}
		}
	}
	slices.Sort(all)
	return all
}

// under reports whether a path is a folder or lies below it, by the words of both: . and .. are
// resolved, symbolic links are not.
func under(p, folder string) bool {
	p, folder = path.Clean(p), path.Clean(folder)
	if folder == "." {
		return !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../")
	}
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}
