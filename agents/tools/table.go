package tools

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// table is the allow-list: the commands that describe a host without changing it,
// with the flags that neither write, wait for ever, read a file of the caller's
// choice, talk to the network nor show other processes' environments. It is not
// changed after the program's start.
var table = index(
	spec{name: "cat", usage: "cat [-nbs] FILE…", flags: flags("nbs", "--number"), paths: shown},
	spec{name: "date", usage: "date [-uRI] [--iso-8601=UNIT] [+FORMAT]", flags: flags("uRI", "--utc --rfc-email", option("--iso-8601", pattern(`date|hours|minutes|seconds|ns`))), operands: oneOf("date", `\+[A-Za-z0-9%:/., _+-]{1,100}`)},
	spec{name: "df", usage: "df [-hHkmTaiPl] [-t TYPE] [-x TYPE] [--total] [--output=COLUMNS] [/|.]", flags: flags("hHkmTaiPl", "--human-readable --si --total --inodes --local --print-type --portability --all",
		option("-t", fsType), option("-x", fsType), option("--type", fsType), option("--exclude-type", fsType), option("--output", pattern(`[a-z]{1,10}(,[a-z]{1,10}){0,11}`))), operands: oneOf("df", `/|\.`)},
	spec{name: "du", usage: "du [-shkmacx] [-d DEPTH] [PATH…]", flags: flags("shkmacx", "--summarize --human-readable --total --apparent-size", option("-d", number), option("--max-depth", number)), paths: sizes},
	spec{name: "free", usage: "free [-bkmghtwl]", flags: flags("bkmghtwl", "--bytes --kibi --mebi --gibi --human --si --total --wide --lohi")},
	spec{name: "head", usage: "head [-qv] [-n LINES] [-c BYTES] FILE…", digits: true, flags: flags("qv", "", option("-n", size), option("-c", size), option("--lines", size), option("--bytes", size)), paths: shown},
	spec{name: "hostname", usage: "hostname [-sfI]", flags: flags("sfI", "--short --fqdn --all-ip-addresses")},
	spec{name: "id", usage: "id [-ugGnr]", flags: flags("ugGnr", "--user --group --groups --name --real")},
	spec{
		name: "ip", usage: "ip [-4|-6] [-br] [-json] [-s] [-d] [-o] addr|link|route|neigh [show] [dev NAME] [up] [table NAME]", whole: true,
		flags: flags("46jpsdoh", "-br -brief -json -pretty -stats -statistics -details -oneline -human"), operands: ipObject,
	},
	spec{name: "ls", usage: "ls [-lahA1tSrnpFdisgGoX] [PATH…]", flags: flags("lahA1tSrnpFdisgGoX", "--all --almost-all --human-readable --reverse --full-time --size"), paths: listing},
	spec{name: "lsblk", usage: "lsblk [-abdfilmnpStJ] [-o COLUMNS]", flags: flags("abdfilmnpStJ", "--all --bytes --nodeps --fs --list --json --paths --output-all", option("-o", blockColumns), option("--output", blockColumns))},
	spec{name: "nproc", usage: "nproc [--all]", flags: flags("", "--all")},
	spec{
		name: "ps", usage: "ps aux | ps -ef | ps -eo COLUMNS [-p PIDS] [--sort=KEYS] [--no-headers] [--forest]", same: map[string]string{"-e": "-A"},
		flags: flags("eAafFlHjLwd", "--no-headers --forest", option("-o", psColumns), option("-p", pids), option("--pid", pids), option("--ppid", pids), option("--format", psColumns), option("--sort", psKeys)), operands: psSyntax,
	},
	spec{name: "ss", usage: "ss [-tuwxlnapiemosH46O] [state NAME]", flags: flags("tuwxlnapiemosH46O", "--tcp --udp --raw --unix --listening --numeric --all --processes --info --extended --memory --options --summary --no-header --ipv4 --ipv6 --oneline"), operands: ssFilter},
	spec{name: "stat", usage: "stat [-t] [-c FORMAT] PATH…", flags: flags("t", "--terse", option("-c", statFormat), option("--format", statFormat)), paths: metadata},
	spec{name: "tail", usage: "tail [-qv] [-n [+]LINES] [-c [+]BYTES] FILE…", digits: true, flags: flags("qv", "", option("-n", count), option("-c", count), option("--lines", count), option("--bytes", count)), paths: shown},
	spec{name: "uname", usage: "uname [-asnrvmpio]", flags: flags("asnrvmpio", "--all --kernel-name --kernel-release --machine --nodename --operating-system")},
	spec{name: "uptime", usage: "uptime [-ps]", flags: flags("ps", "--pretty --since")},
	spec{name: "wc", usage: "wc [-lwcmL] FILE…", flags: flags("lwcmL", "--lines --words --bytes --chars"), paths: counted},
	spec{name: "whoami", usage: "whoami"},
)

var (
	number     = pattern(`[0-9]{1,7}`)
	size       = pattern(`[0-9]{1,9}`)
	count      = pattern(`[+-]?[0-9]{1,9}`)
	fsType     = pattern(`[A-Za-z][A-Za-z0-9._-]{0,20}`)
	pids       = pattern(`[0-9]{1,7}(,[0-9]{1,7}){0,50}`)
	statFormat = pattern(`[A-Za-z0-9%:/., _+-]{1,100}`)
	interfaceN = pattern(`[A-Za-z0-9][A-Za-z0-9_.:@-]{0,19}`)

	psNames = strings.Fields("pid ppid pgid sid uid user euser ruser gid group pcpu %cpu pmem %mem rss rsz vsz size sz stat state s comm ucomm args cmd command " +
		"etime etimes time cputime lstart start start_time stime tty tt tname ni nice pri nlwp thcount wchan psr class cls lwp tid spid")
	blockNames = strings.Fields("name kname path size type mountpoint mountpoints fstype fsver fsavail fssize fsused fsuse% uuid label model ro rm rota vendor tran serial pkname state")
	ssStates   = strings.Fields("established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait closed close-wait last-ack listening closing all connected synchronized bucket big")
	ipObjects  = strings.Fields("a addr address l link r route n neigh neighbour")
	ipTables   = pattern(`main|all|local|default|[0-9]{1,5}`)

	psColumns    = listOf(psNames, "")
	psKeys       = listOf(psNames, "+-")
	blockColumns = listOf(blockNames, "")
)

func index(specs ...spec) map[string]*spec {
	m := make(map[string]*spec, len(specs))
	for i := range specs {
		m[specs[i].name] = &specs[i]
	}
	return m
}

// allowed lists the names of all commands.
func allowed() string { return strings.Join(slices.Sorted(maps.Keys(table)), ", ") }

type valued struct {
	flag string
	check
}

func option(flag string, c check) valued { return valued{flag, c} }

// flags makes the flag table of a spec: short flags by letter, others by name, and
// those with a value.
func flags(letters, names string, options ...valued) map[string]check {
	m := map[string]check{}
	for _, l := range letters {
		m["-"+string(l)] = nil
	}
	for _, n := range strings.Fields(names) {
		m[n] = nil
	}
	for _, o := range options {
		m[o.flag] = o.check
	}
	return m
}

func pattern(expression string) check {
	return regexp.MustCompile(`^(?:` + expression + `)$`).MatchString
}

// listOf checks a comma-separated list of names, each of which may begin with one
// of signs.
func listOf(names []string, signs string) check {
	return func(list string) bool {
		for item := range strings.SplitSeq(list, ",") {
			if item != "" && strings.Contains(signs, item[:1]) {
				item = item[1:]
			}
			if !slices.Contains(names, item) {
				return false
			}
		}
		return true
	}
}

// oneOf allows one operand of a form, or none.
func oneOf(name, expression string) func(_, operands []string) error {
	ok := pattern(expression)
	return func(_, operands []string) error {
		for i, o := range operands {
			if i > 0 || !ok(o) {
				return fmt.Errorf("%s %s is not allowed", name, o)
			}
		}
		return nil
	}
}

var bsdFlags = oneOf("ps", `[auxfw]{1,6}`)

// psSyntax keeps the two syntaxes of ps apart: what means "every process" in one of
// them (-e) means "show the environment" in the other, and older versions read a
// line that is wrong in one as if it were the other. For the same reason -e is
// replaced by -A.
func psSyntax(flags, operands []string) error {
	if len(operands) > 0 && slices.ContainsFunc(flags, func(f string) bool { return !strings.HasPrefix(f, "--") }) {
		return fmt.Errorf("ps: use either %s or flags with a dash", operands[0])
	}
	return bsdFlags(flags, operands)
}

// ipObject allows what ip shows. Abbreviations are refused but the usual ones: ip
// would take "s" for "set" as well as for "show".
func ipObject(_, words []string) error {
	if len(words) == 0 || !slices.Contains(ipObjects, words[0]) {
		return fmt.Errorf("ip shows one of addr, link, route and neigh here")
	}
	words = words[1:]
	if len(words) > 0 && (words[0] == "show" || words[0] == "list") {
		words = words[1:]
		for len(words) > 0 {
			switch {
			case words[0] == "up":
				words = words[1:]
			case len(words) > 1 && words[0] == "dev" && interfaceN(words[1]),
				len(words) > 1 && words[0] == "table" && ipTables(words[1]):
				words = words[2:]
			default:
				return fmt.Errorf("ip … show %s is not allowed", words[0])
			}
		}
	}
	if len(words) > 0 {
		return fmt.Errorf("ip … %s is not allowed: ip can only show", words[0])
	}
	return nil
}

func ssFilter(_, words []string) error {
	if len(words) == 0 || len(words) == 2 && words[0] == "state" && slices.Contains(ssStates, words[1]) {
		return nil
	}
	return fmt.Errorf("ss %s is not allowed", strings.Join(words, " "))
}
