package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/command/device"
	"github.com/svc-gateway/svc/scanner/command/form"
)

// AnalyzeDevice tells what lines would do at worst that are sent to a network device: commands, or lines of
// its configuration. It is [Analyze] for who knows that no shell reads them, and stricter: a command only
// reads when its first word is written out, when it is piped into one filter at most, and when no character
// is in it by which some device separates commands or writes files.
func AnalyzeDevice(text string) Command {
	a := newAnalysis(text)
	a.budget = lineWork
	whole := place{0, len(text)}
	switch {
	case len(text) > maxCommand:
		a.raise(unknown("the text is too long to be understood"), whole)
	case !a.stepped(len(text)):
	default:
		a.deviceLines(text, true, nil)
		a.plainLines(text)
	}
	a.beyond = true // there is no folder on a device
	return a.done()
}

// AnalyzeHost is [Analyze] for who knows that a shell of a host reads the line: a word that is a command of
// network devices is a program like any other.
func AnalyzeHost(text string) Command {
	a := newAnalysis(text)
	a.budget, a.host, a.all = lineWork, true, true
	if len(text) > maxLine {
		a.raise(unknown("the command line is too long to be understood"), place{0, len(text)})
	} else {
		a.line(text, 0, nil)
	}
	return a.done()
}

// plainLines refuses to call lines harmless in which more may stand than a command and a filter.
func (a *analysis) plainLines(text string) {
	offset := 0
	for line := range strings.Lines(text) {
		at := place{offset, offset + len(strings.TrimRight(line, "\r\n"))}
		offset += len(line)
		first, _ := form.FirstWord(line)
		switch why := device.MoreThanOne(line); {
		case first == "":
		case why != "":
			a.raise(unknown(why), at)
		case deviceRoot.next[strings.ToLower(first)] == nil:
			a.raise(unknown("the first word is not written out, or not known"), at)
		}
	}
}
