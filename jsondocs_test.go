package svc_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/json.md")

// jsonPage has a table of each struct that is configured in JSON, between two such lines. The name is
// that of the struct with its package: scan.Handler.
const jsonPage = "docs/json.md"

var jsonTables = regexp.MustCompile(`(?s)<!-- json: (\S+) -->\n.*?<!-- end of json -->`)

// TestJSONReference holds the tables of docs/json.md to the structs: each exported field has a comment and
// a name in JSON, and each struct that a module of ours can be given has a table.
func TestJSONReference(t *testing.T) {
	structs, modules := configurable(t)
	text, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	written := jsonTables.ReplaceAllStringFunc(string(text), func(old string) string {
		name := jsonTables.FindStringSubmatch(old)[1]
		s, ok := structs[name]
		if !ok {
			t.Errorf("%s has a table of %s, which is no struct", jsonPage, name)
			return old
		}
		seen = append(seen, name)
		return fmt.Sprintf("<!-- json: %s -->\n\n%s\n<!-- end of json -->", name, s.table(t))
	})
	wanted := modules
	for _, name := range seen {
		wanted = append(wanted, structs[name].parts...)
	}
	for _, name := range wanted {
		if !slices.Contains(seen, name) {
			t.Errorf("%s has no table of %s: write the lines <!-- json: %[2]s --> and <!-- end of json --> where it belongs", jsonPage, name)
		}
	}
	switch {
	case t.Failed() || written == string(text):
	case !*update:
		t.Errorf("%s is out of date: run go test . -run TestJSONReference -update", jsonPage)
	default:
		if err := os.WriteFile(jsonPage, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// configured is a struct with fields that stand in JSON.
type configured struct {
	name   string // with its package
	fields []*ast.Field
	parts  []string // the structs of ours that fields hold, known once there is a table
}

// configurable finds the structs of the packages of modules, and of those that they take structs from, and
// which of them are modules of Caddy with fields.
func configurable(t *testing.T) (structs map[string]*configured, modules []string) {
	t.Helper()
	structs = map[string]*configured{}
	var with []string // types with the method CaddyModule
	for _, p := range repository(t) {
		if !in(p.name(), "caddymodule/...") && p.name() != "policy/identity" || slices.Contains(testHelpers, p.name()) {
			continue
		}
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv != nil && d.Name.Name == "CaddyModule" {
						with = append(with, typeName(p.Name, d.Recv.List[0].Type))
					}
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() {
							if s, ok := ts.Type.(*ast.StructType); ok {
								name := typeName(p.Name, ts.Name)
								structs[name] = &configured{name: name, fields: s.Fields.List}
							}
						}
					}
				}
			}
		}
	}
	for _, name := range with {
		if s := structs[name]; s != nil && slices.ContainsFunc(s.fields, inJSON) {
			modules = append(modules, name)
		}
	}
	if len(modules) < 5 {
		t.Fatalf("got only the modules %v", modules)
	}
	return structs, modules
}

// inJSON reports whether a field is exported and not left out of JSON.
func inJSON(f *ast.Field) bool {
	return len(f.Names) == 1 && f.Names[0].IsExported() && jsonTag(f) != "-"
}

func jsonTag(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	text, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
	return name
}

var (
	byDefault = regexp.MustCompile(`(?s)^(.*?)\s*\bDefault: (.+)\.$`)
	quoted    = regexp.MustCompile(`"[^"]+"`)
)

// table writes the fields, with their comments.
func (s *configured) table(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| field | value | default | meaning |\n|---|---|---|---|\n")
	for _, f := range s.fields {
		if !inJSON(f) {
			continue
		}
		name, said := jsonTag(f), strings.Join(strings.Fields(f.Doc.Text()), " ")
		if name == "" || said == "" {
			t.Errorf("%s.%s: want a comment and a name in JSON", s.name, f.Names[0].Name)
			continue
		}
		def := "–"
		if m := byDefault.FindStringSubmatch(said); m != nil {
			said, def = m[1], m[2]
		}
		if kept, required := strings.CutSuffix(said, " Required."); required {
			said, def = kept, "required"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, s.valueOf(t, f.Type), markdown(def), markdown(strings.TrimSuffix(said, ".")))
	}
	return b.String()
}

// markdown is text of a comment in a cell: what it quotes are values in JSON.
func markdown(s string) string {
	s = strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s)
	return quoted.ReplaceAllString(s, "`$0`")
}

// elsewhere are the types of others that fields have, as they stand in JSON.
var elsewhere = map[string]string{
	"string": "string", "bool": "boolean", "int": "integer", "int64": "integer", "float64": "number",
	"caddy.Duration":      `duration: a string such as "10s", or nanoseconds`,
	"caddyhttp.MatchPath": "array of string",
	"json.RawMessage":     "object",
	"directive.Places":    "object, string to string",
	"policy.Action":       "string",
	"policy.Role":         "string",
}

// valueOf says what a field holds in JSON.
func (s *configured) valueOf(t *testing.T, e ast.Expr) string {
	t.Helper()
	switch e := e.(type) {
	case *ast.StarExpr:
		return s.valueOf(t, e.X)
	case *ast.ArrayType:
		return "array of " + s.valueOf(t, e.Elt)
	case *ast.MapType:
		return "object, " + s.valueOf(t, e.Key) + " to " + s.valueOf(t, e.Value)
	}
	pkg, _, _ := strings.Cut(s.name, ".")
	name := typeName(pkg, e)
	if word := elsewhere[strings.TrimPrefix(name, pkg+".")]; word != "" {
		return markdown(word)
	}
	if word := elsewhere[name]; word != "" {
		return markdown(word)
	}
	s.parts = append(s.parts, name)
	_, short, _ := strings.Cut(name, ".")
	return fmt.Sprintf("[%s](#%s)", short, strings.ToLower(short))
}

// typeName is the name of a type as others write it.
func typeName(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(pkg, e.X)
	case *ast.SelectorExpr:
		return path.Base(e.X.(*ast.Ident).Name) + "." + e.Sel.Name
	case *ast.Ident:
		return pkg + "." + e.Name
	}
	return fmt.Sprintf("%T", e)
}
