package device

import (
	"regexp"

	"github.com/svc-gateway/svc/agents/inventory"
)

// platform is how a kind of device is talked to.
type platform struct {
	prompt *regexp.Regexp // the last line when the device waits; group 1 is its name, group 2 its mode
	quiet  []string       // has output come without a pager
	enable bool           // there is a mode with more rights behind the command enable
	save   string         // keeps the running configuration over a restart
	candid bool           // changes are made to a candidate, which is then committed
}

var (
	ciscoPrompt = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9_.:/-]{0,62}?)(\([A-Za-z0-9_.:/ -]{1,40}\))?[>#] ?$`)
	junosPrompt = regexp.MustCompile(`^([A-Za-z0-9_.-]{1,32}@[A-Za-z0-9_.:-]{1,63})()[>#] ?$`)
)

var platforms = map[string]*platform{
	inventory.IOS:   {prompt: ciscoPrompt, quiet: []string{"terminal length 0", "terminal width 511"}, enable: true, save: "write memory"},
	inventory.NXOS:  {prompt: ciscoPrompt, quiet: []string{"terminal length 0", "terminal width 511"}, save: "copy running-config startup-config"},
	inventory.EOS:   {prompt: ciscoPrompt, quiet: []string{"terminal length 0", "terminal width 32767"}, enable: true, save: "write memory"},
	inventory.Junos: {prompt: junosPrompt, quiet: []string{"set cli screen-length 0", "set cli screen-width 0"}, candid: true},
}

var (
	// pager is what stands in the last line when a device waits for a key before it goes on.
	pager = regexp.MustCompile(`(?i)^\s*(?:<?-{2,}\s*\(?more\)?.{0,24}|lines \d+-\d+.{0,40}|press any key to continue.{0,40})$`)
	// question is what stands there when it waits for an answer.
	question = regexp.MustCompile(`(?i)(?:\[confirm\]|\[[a-z0-9/,:_.~-]{1,80}\]\s*(?:\([a-z]{1,3}\))?\s*[?:]?|\((?:y/n|yes/no)\)\s*(?:\[[a-z]{1,3}\])?\s*[?:]?|\?|passw(?:or)?d:|username:|login:)\s*$`)
	// complaint begins the line in which a device refuses a command.
	complaint = regexp.MustCompile(`(?m)^\s*(?:% ?(?:Invalid|Incomplete|Ambiguous|Unknown|Unrecognized|Bad|Permission|Authorization|Command|Error|Cannot|Failed|This)|\^?syntax error|unknown command|error:|missing argument|Error:)`)
)
