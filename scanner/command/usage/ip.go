package usage

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

var (
	ipOptions = text.Words(`-4 -6 -0 -B -M -s -stats -statistics -d -details -r -resolve -o -oneline -br -brief -j -json -p -pretty -t -timestamp -ts -tshort -h -human -human-readable
		-iec -c -color -color=auto -color=never -color=always -a -all -V -Version -N -Numeric -echo -nm -Name -n0 -i`)
	ipValues  = text.Words("-f -family -l -loops -rc -rcvbuf -n -netns -nets -cf")
	ipObjects = text.Words(`address addr a link l route r ro rule ru neighbour neighbor neigh n maddress maddr tunnel xfrm netns net netconf vrf token tcp_metrics fou macsec mptcp nexthop ntable addrlabel
		mroute sr stats monitor help vlan fdb mdb qdisc class filter chain actions action dev port health sb region trap rate param info system`)
	ipReads = text.Words("show sh list ls lst get monitor help identify pids list-id fdb_show stats statistics")
)

// checkIP reads the words of ip and its kind: options, an object, a verb that shows, and what is to be shown.
func checkIP(p *parsed) string {
	words := p.words
	for i, w := range words {
		if !w.Fixed {
			p.word = i
			if i > 1 && !w.Split && ipReads.HasString(words[1].Text) && words[0].operand() {
				continue // ip route get "$x"
			}
			return "an argument of " + p.name + " is only known at run time"
		}
	}
	i := 0
	for i < len(words) && strings.HasPrefix(words[i].Text, "-") {
		switch w := words[i].Text; {
		case ipOptions.HasString(w):
			p.roles[i] = Option
			if w == "-r" || w == "-resolve" {
				p.traits |= Network
			}
		case ipValues.HasString(w) && i+1 < len(words):
			p.roles[i], p.roles[i+1] = Option, Value
			i++
		default:
			p.word = i
			return p.name + " has no option " + w + " that is known to only read"
		}
		i++
	}
	for j := i; j < len(words); j++ {
		p.roles[j] = Operand
	}
	if i == len(words) {
		return ""
	}
	object := words[i].Text
	p.word = i
	switch {
	case object == "monitor" || object == "mon":
		p.traits |= Endless
		for _, w := range words[i+1:] {
			if !text.Lists("all link address route neigh rule mroute prefix netconf nsid label all-nsid dev", w.Text) && w.Text != "" && strings.HasPrefix(w.Text, "f") {
				return "ip monitor may read a file"
			}
		}
		p.word = -1
		return ""
	case !ipObjects.HasString(object):
		return p.name + " has no object " + object
	}
	p.roles[i] = Subcommand
	if i+1 == len(words) {
		if object == "netns" || p.name == "ip" && object != "token" || object == "link" || p.name != "ip" {
			p.word = -1
			return ""
		}
	}
	if i+1 < len(words) && p.name == "ip" && text.Lists("state policy", words[i+1].Text) && object == "xfrm" {
		p.traits |= Secret
		i++
		if i+1 == len(words) {
			p.word = -1
			return ""
		}
	}
	if i+1 < len(words) {
		verb := words[i+1].Text
		if p.word = i + 1; !ipReads.HasString(verb) && verb != "sho" && (verb != "s" || (p.name != "ip" || strings.HasPrefix("link", object)) && len(words) > i+2) {
			return p.name + " " + object + " " + verb + " is not known to only read"
		}
		p.roles[i+1] = Subcommand
		if verb == "monitor" {
			p.traits |= Endless
		}
	}
	p.word = -1
	return ""
}

// iwShows are the words of iw, without the name of an interface, with which it only shows.
var iwShows = map[string]bool{
	"iw dev": true, "iw dev info": true, "iw dev link": true, "iw dev station dump": true, "iw dev survey dump": true, "iw dev scan dump": true,
	"iw phy": true, "iw phy info": true, "iw list": true, "iw reg get": true,
}

func checkIw(p *parsed) string {
	line := p.name
	for i := range p.operands {
		if i > 0 || p.name == "iw reg" || len(p.operands) == 1 && p.name == "iw phy" && p.operand(0) == "info" {
			line += " " + p.operand(i)
		}
	}
	if iwShows[line] {
		return ""
	}
	return "iw is not known to only read here"
}
