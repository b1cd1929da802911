package cli

import (
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
)

// Program is the name of this program in its help and messages: caddy, unless its main package or
// whoever has built it says otherwise.
func Program() string {
	if caddy.CustomBinaryName != "" {
		return caddy.CustomBinaryName
	}
	return "caddy"
}

// Command names a command of this program, as in "service admin list-users".
func Command(words string) string { return Program() + " " + words }

// Has reports whether this program has a command.
func Has(name string) bool {
	_, ok := caddycmd.Commands()[name]
	return ok
}

// Examples are lines of examples, one of each command.
func Examples(commands ...string) string {
	for i, words := range commands {
		commands[i] = "  " + Command(words)
	}
	return strings.Join(commands, "\n")
}

var asCaddy = regexp.MustCompile(`\bcaddy ([a-z]+(?:-[a-z]+)?)\b`)

// Named writes the commands in a text of Caddy's as people call them here.
func Named(text string) string {
	return asCaddy.ReplaceAllStringFunc(text, func(words string) string {
		name := strings.TrimPrefix(words, "caddy ")
		if !Has(name) {
			return words
		}
		return Command(name)
	})
}
