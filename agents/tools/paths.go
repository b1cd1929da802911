package tools

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/command"
)

// paths are what words name as files, for the policy: relative to the root where they are in it, else
// absolute. One that leads over a symbolic link is there twice, as it is written and where it leads.
func (w workspace) paths(words ...string) []string {
	root, err := filepath.Abs(w.root)
	if err != nil || w.root == "" {
		return words
	}
	real := root
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		real = resolved
	}
	var all []string
	add := func(path string) {
		for _, r := range []string{root, real} {
			if rel, err := filepath.Rel(r, path); err == nil && filepath.IsLocal(rel) {
				path = rel
				break
			}
		}
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	for _, word := range words {
		if !filepath.IsAbs(word) {
			word = root + "/" + word
		}
		add(filepath.Clean(word))
		// .. is of where a link leads: the path is resolved as it is written.
		if resolved, ok := resolve(word); ok {
			add(resolved)
		}
	}
	return all
}

// resolve follows the symbolic links of a path, as far as it exists.
func resolve(path string) (string, bool) {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved, true
	}
	cut := strings.LastIndexByte(path, '/')
	if cut < 0 || path[cut+1:] == ".." {
		return "", false
	}
	folder, ok := resolve(path[:cut])
	return filepath.Join(folder, path[cut+1:]), ok
}

// redirection finds what a command line redirects to or from.
var redirection = regexp.MustCompile(`[<>]&?[ \t]*("[^"]*"|'[^']*'|[^\s<>|;&()'"]+)`)

// redirected is what a command line redirects to or from.
func redirected(line string) []string {
	var all []string
	for _, m := range redirection.FindAllStringSubmatch(line, -1) {
		all = append(all, strings.Trim(m[1], `"'`))
	}
	return all
}

// operands are the words of a command line that may be paths: all but options, with the values of
// those that have one, and the targets of redirections. More of them than there are is no harm.
func operands(line string, c *command.Command) []string {
	all := redirected(line)
	for _, p := range c.Parts {
		for _, word := range p.Args {
			if _, value, ok := strings.Cut(word, "="); ok && value != "" {
				all = append(all, value)
			}
			if word != "" && !strings.HasPrefix(word, "-") {
				all = append(all, word)
			}
		}
	}
	return all
}
