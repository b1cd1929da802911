package device

import (
	"regexp"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// remote begin the names of files on other hosts.
var remote = regexp.MustCompile(`^(?:tftp|ftp|sftp|scp|http|https|rcp|nfs):`)

// asked are what stands between the name of a command and the place whose files it lists or reads.
var asked = regexp.MustCompile(`^(?:dir(?: /\w+)*|verify(?: /\w+)?|show|show file|show file information|show archive config differences(?: \S+)?) $`)

// alone are commands that write, or set, what they are given: nothing may follow.
var alone = regexp.MustCompile(`^(?:display di[agnostic]+(?:-\S*)?|exec(?:ute)? (?:date|time)) \S`)

// MoreThanReads says why a command that shows something may do more than that; "" when it says no more: none
// of its words, which a device takes shortened, is an option of a program, another host, a place for files
// or a word that writes.
func MoreThanReads(name string, words []string) string {
	line := name + " "
	for i, w := range words {
		low := strings.ToLower(w)
		switch shown := i == 0 || i == 1 && text.Lists("file", words[0]); {
		case w == "-" || strings.HasPrefix(w, "-") && !text.Lists("-all", low):
			return "a host may run a program called " + name
		case strings.Contains(low, "://"), remote.MatchString(low):
			return "it reaches for another host, or a file"
		case names(w) && (!asked.MatchString(line) || line == "show " && !strings.HasSuffix(w, ":")):
			return "it may write to " + w
		case !names(w) && !strings.HasPrefix(w, "/") && writes(low, shown) && (i > 0 || !strings.HasPrefix("file", low)):
			return "with " + w + " it may do more than show"
		case strings.ContainsAny(w, ";`$<>&\n"):
			return "a word of the command is not understood"
		}
		line += low + " "
	}
	if alone.MatchString(line) {
		return name + " may write, or set, what it is given"
	}
	if name == "terminal" && len(words) > 0 && !text.Lists("length width pager datadump monitor no exec len wid", words[0]) {
		return "terminal " + words[0] + " does more than look"
	}
	return ""
}

// MoreThanOne says why a line that is sent to a device as it is may be more than one command with one
// filter; "" when it is not.
func MoreThanOne(line string) string {
	command, filter, _ := strings.Cut(strings.TrimSpace(line), " | ")
	switch {
	case strings.ContainsFunc(strings.TrimRight(line, "\r\n"), func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }):
		return "there is a character in it that is not printed"
	case strings.ContainsAny(command, "|;`$<>&\\?"), strings.ContainsAny(filter, ";`$<>&\\?"):
		return "a character in it may begin another command, or write a file"
	}
	return ""
}
