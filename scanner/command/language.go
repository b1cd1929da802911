package command

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// signs are what programs of a language have and others mostly have not.
var signs = map[Language]*regexp.Regexp{
	Python: regexp.MustCompile(`(?m)^\s*(?:import \w[\w., ]*(?: as \w+)?\s*$|from [\w.]+ import\b|(?:async )?def \w+\s*\(.*:|class \w+.*:\s*$|(?:async )?with .+:|` +
		`elif .*:|except\b.*:|try:|@\w|if __name__|#|for \w.* in .*:)|\bNone\b|\bTrue\b|\bself\.|"""|'''|\b[rbf]["']|\w\([^()]*\w=[^=>]|print\(`),
	JavaScript: regexp.MustCompile(`(?m)\b(?:const|let|var)\s+[\w${\[]|=>|\bfunction\b|===|!==|\brequire\(|(?:^|[^:])//|/\*|^\s*import .* from ['"]|\bnew [A-Z]\w*\(|` +
		"`|\\w\\(\\{|;\\s*$|\\bundefined\\b|console\\.|\\}\\)|\\{\\s*\\w+\\s*:"),
}

// DetectLanguage tells the language of a program from its text: [Python] where nothing else is
// likely, since parts of it can stand without any sign.
func DetectLanguage(text string) Language {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	first, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "#!") {
		switch {
		case strings.Contains(first, "python"):
			return Python
		case strings.Contains(first, "node") || strings.Contains(first, "deno") || strings.Contains(first, "bun"):
			return JavaScript
		}
		return Shell
	}
	if _, ok := judgeSQL(text, true); ok {
		return SQL
	}
	if startsCommand(text) {
		return Shell
	}
	count := func(l Language) int { return len(signs[l].FindAllStringIndex(text, 50)) }
	if count(JavaScript) > count(Python) {
		return JavaScript
	}
	return Python
}

// startsCommand reports whether a text can be parsed as a script that runs a command which is
// known and not assigned to.
func startsCommand(text string) (found bool) {
	if len(text) > maxCommand || deep(text, maxBrackets) {
		return false
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			name := baseName(c.Args[0].Lit())
			second := ""
			if len(c.Args) > 1 {
				second = c.Args[1].Lit()
			}
			found = found || (hostProgram(name) || deviceRoot.next[name] != nil && len(c.Args) > 1) && !strings.HasPrefix(second, "=") && second != ":="
		}
		return !found
	})
	return found
}
