package devicetest

import (
	"slices"
	"strings"
)

// line is a line of a configuration, behind the sections that it stands in: for IOS; one of Junos is a set
// command without set.
type line []string

func (l line) is(m line) bool { return slices.Equal(l, m) }

// defaults are configurations.
var defaults = map[string][]string{
	"ios": {
		"version 17.9", "hostname NAME", "enable secret 9 $9$abcdefghijklmn$0123456789012345678901234567890123456789012",
		"interface GigabitEthernet1", " description uplink", " ip address 10.0.0.1 255.255.255.0",
		"interface GigabitEthernet2", " shutdown", "ntp server 10.0.0.5", "snmp-server community s3cretCommunity RO",
		"tacacs-server key T4cacsKey99", "radius server ise", " key R4diusKey99",
	},
	"junos": {
		"system host-name NAME", "system ntp server 10.0.0.5", "interfaces ge-0/0/0 description uplink", "interfaces ge-0/0/0 unit 0 family inet address 10.0.0.1/24",
		`system tacplus-server 10.0.0.7 secret "$9$T4cplusSecret99"`,
	},
}

// parse reads a configuration.
func parse(platform, text string) (all []line) {
	var section string
	for raw := range strings.SplitSeq(text, "\n") {
		switch {
		case platform == "ios" && strings.HasPrefix(raw, " "):
			all = append(all, line{section, strings.TrimSpace(raw)})
		case raw != "":
			section = raw
			all = append(all, line{raw})
		}
	}
	return all
}

// render writes a configuration as the platform shows it.
func render(platform string, config []line) string {
	var b strings.Builder
	for _, l := range config {
		if platform == "ios" {
			if len(l) == 1 {
				b.WriteString("!\n")
			}
			b.WriteString(strings.Repeat(" ", len(l)-1) + l[len(l)-1] + "\n")
			continue
		}
		b.WriteString("set " + l[0] + "\n")
	}
	return b.String()
}

// single are the lines of which a section has one.
var single = []string{"hostname", "description", "ip address", "banner motd"}

// enter puts a line into a configuration of IOS, or takes one out.
func enter(config []line, path []string, text string) []line {
	l := append(slices.Clone(line(path)), text)
	if rest, no := strings.CutPrefix(text, "no "); no {
		return slices.DeleteFunc(slices.Clone(config), func(m line) bool {
			at := len(path)
			return len(m) > at && slices.Equal(m[:at], path) && (m[at] == rest || strings.HasPrefix(m[at], rest+" "))
		})
	}
	if slices.ContainsFunc(config, l.is) {
		return config
	}
	config = slices.Clone(config)
	for _, s := range single {
		if text == s || strings.HasPrefix(text, s+" ") {
			for i, m := range config {
				if len(m) == len(l) && slices.Equal(m[:len(path)], path) && strings.HasPrefix(m[len(path)], s+" ") {
					config[i] = l
					return config
				}
			}
		}
	}
	end := len(config)
	if len(path) > 0 { // behind the last one of its section
		for i, m := range config {
			if len(m) >= len(path) && slices.Equal(m[:len(path)], path) {
				end = i + 1
			}
		}
	}
	return slices.Insert(config, end, l)
}

// change sets or deletes in a candidate of Junos.
func change(config []line, text string) ([]line, bool) {
	verb, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	words := strings.Fields(rest)
	if len(words) < 2 || !slices.Contains([]string{"system", "interfaces", "protocols", "snmp"}, words[0]) {
		return config, false
	}
	config = slices.Clone(config)
	switch verb {
	case "set":
		if slices.Contains(words, "host-name") || slices.Contains(words, "description") {
			at := max(slices.Index(words, "host-name"), slices.Index(words, "description"))
			key := strings.Join(words[:at+1], " ") + " "
			for i, m := range config {
				if strings.HasPrefix(m[0], key) {
					config[i] = line{rest}
					return config, true
				}
			}
		}
		if !slices.ContainsFunc(config, line{rest}.is) {
			config = append(config, line{rest})
		}
	case "delete":
		config = slices.DeleteFunc(config, func(m line) bool { return m[0] == rest || strings.HasPrefix(m[0], rest+" ") })
	default:
		return config, false
	}
	return config, true
}

// compare is the difference of two candidates as Junos shows it, by set lines.
func compare(from, to []line) string {
	var b strings.Builder
	for _, m := range from {
		if !slices.ContainsFunc(to, m.is) {
			b.WriteString("[edit]\n-  " + m[0] + ";\n")
		}
	}
	for _, m := range to {
		if !slices.ContainsFunc(from, m.is) {
			b.WriteString("[edit]\n+  " + m[0] + ";\n")
		}
	}
	return b.String()
}
