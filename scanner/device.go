package scanner

import "strings"

// deviceCommand is a command of network devices, known by its first words. A word may be
// shortened to as many letters as stand before the bar.
type deviceCommand struct {
	words    string
	class    Class
	category string
	reason   string
}

// deviceCommands are tried in order. Words that are programs of a host as well are not here.
var deviceCommands = []deviceCommand{
	{"rel|oad", Dangerous, Reload, "it restarts the device"},
	{"admin rel|oad", Dangerous, Reload, "it restarts the device"},
	{"request system reboot", Dangerous, Reload, "it restarts the device"},
	{"request system halt", Dangerous, Shutdown, "it takes the device down"},
	{"request system power-off", Dangerous, Shutdown, "it takes the device down"},
	{"request system zeroize", Dangerous, Erase, "it erases the device"},
	{"request chassis", Dangerous, Reload, "it switches over"},
	{"request", Unknown, "", "the request is not known"},
	{"execute reboot", Dangerous, Reload, "it restarts the device"},
	{"execute shutdown", Dangerous, Shutdown, "it takes the device down"},
	{"execute factoryreset", Dangerous, Erase, "it erases the device"},
	{"execute formatlogdisk", Dangerous, Formatting, "it formats a disk"},
	{"system reboot", Dangerous, Reload, "it restarts the device"},
	{"redundancy force-switchover", Dangerous, Reload, "it switches over"},
	{"reset saved-configuration", Dangerous, Erase, "it erases the configuration"},
	{"wr|ite e|rase", Dangerous, Erase, "it erases the configuration"},
	{"erase", Dangerous, Erase, "it erases data"},
	{"squeeze", Dangerous, Erase, "it erases data"},
	{"delete", Dangerous, Erase, "it deletes files or configuration"},
	{"crypto key zeroize", Dangerous, Erase, "it erases keys"},
	{"configure replace", Dangerous, Erase, "it replaces the configuration"},
	{"default interface", Dangerous, Erase, "it erases the configuration of interfaces"},
	{"process restart", Dangerous, CriticalProcess, "it restarts a process"},
	{"kill process", Dangerous, CriticalProcess, "it ends a process"},
	{"no sh|utdown", Mutate, "", "it changes the configuration"},
	{"undo sh|utdown", Mutate, "", "it changes the configuration"},
	{"no router", Dangerous, Erase, "it removes a routing process"},
	{"no vlan", Dangerous, Erase, "it removes a VLAN"},
	{"no interface", Dangerous, Erase, "it removes an interface"},
	{"undo bgp", Dangerous, Erase, "it removes a routing process"},
	{"undo ospf", Dangerous, Erase, "it removes a routing process"},
	{"undo vlan", Dangerous, Erase, "it removes a VLAN"},
	{"no", Mutate, "", "it changes the configuration"},
	{"undo", Mutate, "", "it changes the configuration"},
	{"sho|w", ReadOnly, "", ""},
	{"disp|lay", ReadOnly, "", ""},
	{"dir", ReadOnly, "", ""},
	{"verify", ReadOnly, "", ""},
	{"terminal", ReadOnly, "", ""},
	{"monitor interface", ReadOnly, "", ""},
	{"conf|igure", Mutate, "", "it changes the configuration"},
	{"commit", Mutate, "", "it changes the configuration"},
	{"wr|ite", Mutate, "", "it saves the configuration"},
	{"interface", Mutate, "", "it changes the configuration"},
	{"snmp-server", Mutate, "", "it changes the configuration"},
	{"ntp", Mutate, "", "it changes the configuration"},
	{"banner", Mutate, "", "it changes the configuration"},
	{"clear", Mutate, "", "it clears state"},
	{"boot system", Dangerous, Reload, "it changes what the device starts"},
}

// judgeDevice judges a command of a network device.
func judgeDevice(name string, args call) (verdict, bool) {
	for _, d := range deviceCommands {
		if d.matches(name, args) {
			if args.dynamic() && d.class != Dangerous {
				return unknown("the command is only known at run time"), true
			}
			return verdict{d.class, d.category, d.reason}, true
		}
	}
	return verdict{}, false
}

func (d deviceCommand) matches(name string, args call) bool {
	for i, word := range strings.Fields(d.words) {
		got := name
		if i > 0 {
			if i > len(args) {
				return false
			}
			got = args[i-1].text
		}
		stem, rest, _ := strings.Cut(word, "|")
		if !strings.HasPrefix(got, stem) || !strings.HasPrefix(stem+rest, got) {
			return false
		}
	}
	return true
}
