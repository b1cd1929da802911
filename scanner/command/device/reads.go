package device

import (
	"regexp"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// more are words of a command that shows something with which it does more.
var more = text.Words("write-file read-file redirect append tee save file upload export output-file shell bash run-script exec execute")

// places begin the names of files on other hosts.
var places = regexp.MustCompile(`^(?:tftp|ftp|sftp|scp|http|https|rcp):`)

// MoreThanReads says why a command that shows something may do more than that; "" when it says no more: none
// of its words is an option of a program, another host or a file to write.
func MoreThanReads(name string, words []string) string {
	for i, w := range words {
		switch low := strings.ToLower(w); {
		case w == "-" || strings.HasPrefix(w, "-") && !text.Lists("-all", low):
			return "a host may run a program called " + name
		case strings.Contains(low, "://"), places.MatchString(low):
			return "it reaches for another host, or a file"
		case more.HasString(low) && (low != "file" || i > 0) && low != "export":
			return "with " + w + " it does more than show"
		case strings.ContainsAny(w, ";`$<>&\n"):
			return "a word of the command is not understood"
		}
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
