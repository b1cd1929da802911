package tools

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner/command"
)

// pathTargets are paths as the policy sees them, as targets. The user may have named one in the project
// by its absolute path. One behind a symbolic link is a target of its own.
func (w workspace) pathTargets(argument string, paths []string) []provenance.Target {
	root, err := filepath.Abs(w.root)
	var all []provenance.Target
	for _, path := range paths {
		t := provenance.Target{Argument: argument, Kind: provenance.Path, Value: path}
		if err == nil && w.root != "" && !filepath.IsAbs(path) {
			t.Same = []string{filepath.Join(root, path)}
		}
		all = append(all, t)
	}
	return all
}

// remote are programs whose operands are hosts. The operands of others are paths, which match more
// narrowly, so that a program that is missing here is no gap.
var remote = []string{"curl", "dig", "ftp", "host", "nc", "nslookup", "ping", "sftp", "ssh", "telnet", "tracepath", "traceroute", "wget", "whois"}

// commandTargets are what the words of a command line name: URLs, addresses, hosts, and paths for all
// else, because a file can have any name. Where a word is known at run time only, or the line cannot be
// read, there is a target that nobody can name.
func (w workspace) commandTargets(line string, c *command.Command) []provenance.Target {
	var all []provenance.Target
	add := func(t ...provenance.Target) {
		for _, t := range t {
			if !slices.ContainsFunc(all, func(o provenance.Target) bool { return o.Kind == t.Kind && o.Value == t.Value }) {
				all = append(all, t)
			}
		}
	}
	for _, word := range redirected(line) {
		add(w.pathTargets("command", w.paths(word))...)
	}
	for _, p := range c.Parts {
		if p.Dynamic || p.Name == "" {
			add(provenance.Target{Argument: "command", Kind: provenance.Unknown, Value: p.Name})
		}
		for _, word := range p.Args {
			for _, value := range values(word) {
				add(w.wordTargets(p.Name, value)...)
			}
		}
	}
	if len(c.Parts) == 0 {
		add(provenance.Target{Argument: "command", Kind: provenance.Unknown})
	}
	return all
}

func (w workspace) wordTargets(program, word string) []provenance.Target {
	one := func(k provenance.Kind) []provenance.Target {
		return []provenance.Target{{Argument: "command", Kind: k, Value: word}}
	}
	switch at := strings.IndexByte(word, '@'); {
	case strings.Contains(word, "://"):
		return one(provenance.URL)
	case at > 0 && !strings.ContainsAny(word, "/:"):
		return one(provenance.Recipient)
	case slices.Contains(remote, program) && !strings.Contains(word, "/"):
		return one(provenance.Host)
	}
	return w.pathTargets("command", w.paths(word))
}

// values are what a word of a command line may name. An option names what is behind its =, or what is
// written together with it and looks like more than letters.
func values(word string) []string {
	switch option, value, ok := strings.Cut(word, "="); {
	case word == "":
		return nil
	case ok && value != "" && strings.HasPrefix(option, "-"):
		return []string{value}
	case ok && value != "" && !strings.ContainsAny(option, "/:?"):
		return []string{value, word} // if=file, and a file with such a name
	case !strings.HasPrefix(word, "-"):
		return []string{word}
	case len(word) > 2 && word[1] != '-' && strings.ContainsAny(word[2:], "/.:@~"):
		return []string{word[2:]}
	}
	return nil
}
