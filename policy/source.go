package policy

import _ "embed"

//go:embed builtin.yaml
var builtin []byte

// BuiltinName is the name of the rule file that is part of the program, in errors and explanations.
const BuiltinName = "builtin.yaml"

// Source is a rule file.
type Source struct {
	Name string // as errors and explanations name it, such as its path
	Text []byte // YAML
}

// Builtin returns the rule file that is part of the program, comments included, for people to read.
func Builtin() Source { return Source{BuiltinName, append([]byte(nil), builtin...)} }
