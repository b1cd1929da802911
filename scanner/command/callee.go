package command

import (
	"slices"
	"strings"
)

// unbound begins the path of a name of which nothing is known but itself.
const unbound = "?"

// paths returns the dotted names that an expression may stand for: requests.post for what was
// imported, ?session.post where only the name is known, and () for the result of a call.
func (v *codeValues) paths(n *node) []string {
	defer v.leave()
	if n == nil || !v.enter() {
		return nil
	}
	switch n.kind {
	case nodeName:
		return v.named(n.text)
	case nodeAttr:
		if exprs := v.bound[n.dotted()]; len(exprs) > 0 {
			if all := union(exprs, v.paths); len(all) > 0 {
				return all
			}
		}
		return suffixed(v.paths(n.kids[0]), "."+n.text)
	case nodeAny:
		return v.members(n.kids, v.paths)
	case nodeGroup:
		if n.text == "(" && len(n.kids) == 1 {
			return v.paths(n.kids[0])
		}
	case nodeChain:
		return union(n.kids, v.paths)
	case nodeIndex:
		return v.pathIndexed(n)
	case nodeCall:
		return v.pathCalled(n)
	}
	return nil
}

func suffixed(paths []string, suffix string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if len(p) < 256 {
			out = append(out, p+suffix)
		}
	}
	return out
}

// named returns what a name stands for.
func (v *codeValues) named(name string) []string {
	all := slices.Clone(v.alias[name])
	for _, p := range union(v.bound[name], v.paths) {
		if !slices.Contains(all, p) && len(all) < maxVariants {
			all = append(all, p)
		}
	}
	if len(all) > 0 {
		return all
	}
	all = append(all, unbound+name)
	for _, star := range v.stars {
		all = append(all, star+"."+name)
	}
	return all
}

// pathIndexed follows object["name"], vars(object)["name"], globals()["name"] and lists of functions.
func (v *codeValues) pathIndexed(n *node) []string {
	if all := v.members(n.kids[:1], v.paths); len(all) > 0 {
		return all
	}
	if len(n.kids) < 2 {
		return nil
	}
	var all []string
	for _, key := range v.values(n.kids[1]) {
		for _, p := range v.paths(n.kids[0]) {
			switch p {
			case "?globals()", "?locals()", "?window", "?globalThis", "?global", "sys.modules", "?sys.modules", "?__builtins__":
				all = append(all, v.named(key)...)
			default:
				all = append(all, strings.TrimSuffix(p, ".__dict__")+"."+key)
			}
		}
	}
	return all
}

// pathCalled follows the functions that return modules and functions by name.
func (v *codeValues) pathCalled(n *node) []string {
	fn, args := n.kids[0], n.kids[1:]
	arg := func(i int) []string {
		if i >= len(args) {
			return nil
		}
		return v.values(args[i])
	}
	switch fn.text {
	case "getattr", "attrgetter", "methodcaller":
		if fn.text == "getattr" && len(args) > 1 {
			var all []string
			for _, name := range arg(1) {
				all = append(all, suffixed(v.paths(args[0]), "."+name)...)
			}
			return all
		}
	case "__import__", "import_module", "require", "import", "createRequire":
		var all []string
		for _, name := range arg(0) {
			all = append(all, strings.TrimPrefix(name, "node:"))
		}
		return all
	case "vars", "partial", "bind", "wraps", "promisify":
		if fn.text == "bind" && fn.kind == nodeAttr {
			return v.paths(fn.kids[0])
		}
		if len(args) > 0 {
			return v.paths(args[0])
		}
	case "default":
		if fn.kind == nodeAttr {
			return suffixed(v.paths(fn.kids[0]), "()")
		}
	}
	if fn.kind == nodeCall && (fn.kids[0].text == "attrgetter" || fn.kids[0].text == "methodcaller") && len(args) > 0 && len(fn.kids) > 1 {
		var all []string // methodcaller("post", url)(requests)
		for _, name := range v.values(fn.kids[1]) {
			all = append(all, suffixed(v.paths(args[0]), "."+name)...)
		}
		return all
	}
	return suffixed(v.paths(fn), "()")
}
