package usage

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// checkTar reads the words of tar: a listing, of archives of this host.
func checkTar(p *parsed) string {
	list, value := false, ""
	for i, w := range p.words {
		p.word = i
		if !w.Fixed && (!w.operand() && (value == "" || w.Many) || w.Split) {
			return "an argument of tar is only known at run time"
		}
		word := w.Text
		switch {
		case value != "":
			p.roles[i] = Value
			if value == "f" && strings.Contains(word, ":") {
				return "tar may run a command for an archive on another host"
			}
			value = ""
		case word == "--" || strings.HasPrefix(word, "--"):
			name, v, has := strings.Cut(word, "=")
			p.roles[i] = Option
			switch name {
			case "--list":
				list = true
			case "--verbose", "--gzip", "--gunzip", "--bzip2", "--xz", "--zstd", "--lzma", "--numeric-owner", "--full-time", "--utc", "--wildcards", "--no-wildcards", "--ignore-case", "--anchored", "--no-anchored",
				"--totals", "--block-number", "--quoting-style", "--show-transformed-names", "--test-label", "--compare", "--auto-compress", "--force-local":
			case "--file", "--exclude", "--strip-components", "--directory", "--exclude-from", "--files-from", "--occurrence":
				if name == "--files-from" {
					return "tar " + name + " may hold options"
				}
				if !has {
					value = strings.TrimPrefix(name, "--")[:1]
				} else if name == "--file" && strings.Contains(v, ":") {
					return "tar may run a command for an archive on another host"
				}
			default:
				return "tar has no option " + name + " that is known to only read"
			}
		case i == 0 || strings.HasPrefix(word, "-") && word != "-":
			p.roles[i] = Option
			letters := strings.TrimPrefix(word, "-")
			for j := 0; j < len(letters); j++ {
				switch c := letters[j]; c {
				case 't':
					list = true
				case 'v', 'z', 'j', 'J', 'Z', 'a', 'R', 'd', 'O':
				case 'f':
					switch {
					case word[0] == '-' && j+1 < len(letters):
						if strings.Contains(letters[j+1:], ":") {
							return "tar may run a command for an archive on another host"
						}
						j = len(letters)
					default:
						value = "f"
					}
				case 'C', 'X':
					if word[0] != '-' {
						return "tar is not known to only list"
					}
					if j+1 < len(letters) {
						j = len(letters)
					} else {
						value = "C"
					}
				default:
					return "tar -" + string(c) + " is not known to only list"
				}
			}
		default:
			p.roles[i] = Operand
		}
	}
	if p.word = -1; !list {
		return "tar only looks with -t"
	}
	return ""
}

func checkUnzip(p *parsed) string { return onlyFlags(p, "lvtzZqCLMps12ThmxU", "lvtzZp", "x") }

func checkZip(p *parsed) string { return onlyFlags(p, "sf", "s", "") }

// onlyFlags checks programs whose first word holds all options: the letters that are known, one of which
// has to be there.
func onlyFlags(p *parsed, known, needed, values string) string {
	found := false
	for i, w := range p.words {
		p.word = i
		switch {
		case !w.Fixed && !w.operand():
			return "an argument of " + p.name + " is only known at run time"
		case strings.HasPrefix(w.Text, "-") && w.Text != "-":
			if strings.Trim(w.Text[1:], known) != "" || w.Text == "--" {
				return p.name + " has no option " + w.Text + " that is known to only read"
			}
			found = found || strings.ContainsAny(w.Text[1:], needed)
			p.roles[i] = Option
		default:
			p.roles[i] = Operand
		}
	}
	if p.word = -1; !found || p.name == "zip" && p.words[0].Text != "-sf" {
		return p.name + " is not known to only read"
	}
	return ""
}

// checkDd reads if=, of= and the rest of dd, which writes where it says so.
func checkDd(p *parsed) string {
	counted, in, out := false, "", ""
	for i, w := range p.words {
		p.word = i
		name, value, ok := strings.Cut(w.Text, "=")
		if !w.Fixed && !strings.Contains(w.Head, "=") || w.Split || !ok {
			return "an argument of dd is not known"
		}
		p.roles[i] = Operand
		switch name {
		case "if":
			in = value
		case "of":
			if out = value; !text.Lists("/dev/null /dev/stdout /dev/stderr", value) || !w.Fixed {
				return "dd writes"
			}
		case "count":
			counted = true
		case "bs", "ibs", "obs", "cbs", "skip", "iseek", "seek", "oseek", "conv", "iflag", "oflag", "status":
		default:
			return "dd has no operand " + name
		}
	}
	p.word = -1
	if !counted && (in == "" || endlessFiles.HasString(in)) {
		p.traits |= Endless
	}
	_ = out
	return ""
}

// endlessFiles have no end.
var endlessFiles = text.Words("/dev/zero /dev/random /dev/urandom /dev/full")

// checkJQ notes programs of jq that may not end.
func checkJQ(p *parsed) string {
	for _, w := range p.words {
		for _, word := range []string{"repeat", "recurse(", "limit(", "while(", "until(", "range(", "def ", "input"} {
			if strings.Contains(w.Text, word) && word != "input" {
				p.traits |= Endless
			}
		}
		if strings.Contains(w.Text, "env.") || strings.Contains(w.Text, "$ENV") {
			p.traits |= Secret
		}
	}
	return ""
}

func checkYQ(p *parsed) string {
	if p.has("-f") {
		return "yq -f differs between its kinds"
	}
	for _, i := range p.operands {
		if text.ContainsFold(p.words[i].Text, "env") {
			p.traits |= Secret
		}
	}
	return ""
}

// checkPager refuses the commands that a pager is given as it starts: less +!sh.
func checkPager(p *parsed) string {
	for i, w := range p.words {
		if strings.HasPrefix(w.Text, "+") && strings.Trim(w.Text, "+0123456789GF") != "" && !strings.HasPrefix(w.Text, "+/") || !w.Fixed && w.Head == "" && !w.operand() && w.Split {
			p.word = i
			return p.name + " may run a command"
		}
		if w.Text == "+F" {
			p.traits |= Endless
		}
	}
	return ""
}

// checkPlain refuses operands that lead to other hosts.
func checkPlain(p *parsed) string {
	for _, i := range p.operands {
		if strings.Contains(p.words[i].Text, "://") {
			p.traits |= Network
		}
	}
	return ""
}

// checkDecompress is that of gzip and its kind, which only read when they list, test, or print what they
// decompress.
func checkDecompress(p *parsed) string {
	if p.has("-l", "--list", "-t", "--test", "-c", "--stdout", "--to-stdout") {
		return ""
	}
	return p.name + " replaces files"
}

func checkMedia(p *parsed) string {
	for _, i := range p.operands {
		if w := p.words[i]; strings.Contains(w.Text, ":") || strings.HasPrefix(w.Text, "@") || strings.HasPrefix(w.Text, "|") {
			p.word = i
			return p.name + " may do more than read with this file"
		}
	}
	if len(p.operands) > 1 && p.name == "soxi" {
		return ""
	}
	return ""
}

func checkStdoutLast(p *parsed) string {
	if n := len(p.operands); n == 2 && p.operand(1) == "-" {
		return ""
	}
	return p.name + " writes a file"
}

func checkGPG(p *parsed) string {
	if p.has("--list-keys", "--list-public-keys", "--fingerprint", "-k", "--list-sigs", "--list-signatures", "--check-signatures", "--verify", "--list-packets", "--show-keys", "-K", "--list-secret-keys") {
		return ""
	}
	return "gpg only looks with an option that lists or verifies"
}
