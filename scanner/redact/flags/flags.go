// Package flags knows which options of which programs take a password on a command line.
package flags

import (
	"bytes"
	"slices"
	"strings"
)

// Option says how an option takes a password; the zero value, that it takes none.
type Option struct {
	Apart    bool // the value may be the next word, or stand behind =
	Attached bool // the value may stand at once behind the name
	Login    byte // the sign between the name of a user and the password in the value; 0: there is no name
}

// option is one by its name, with its hyphens.
type option struct {
	name string
	Option
}

// How the options of most programs take it.
var (
	apart    = Option{Apart: true}
	attached = Option{Attached: true}
	both     = Option{Apart: true, Attached: true}
)

// behind is an option whose value has the name of a user in front of a sign.
func (o Option) behind(login byte) Option {
	o.Login = login
	return o
}

// family are programs with the same options.
type family struct {
	programs []string
	command  string // a word that must stand behind the program: docker login; empty: none
	options  []option
}

// families are from the manuals of the programs.
var families = []family{
	{[]string{"curl"}, "", []option{{"-u", both.behind(':')}, {"--user", apart.behind(':')}, {"-U", both.behind(':')}, {"--proxy-user", apart.behind(':')}}},
	{[]string{"sshpass"}, "", []option{{"-p", both}}},
	{[]string{"redis-cli"}, "", []option{{"-a", apart}, {"--pass", apart}}},
	{[]string{"redis-server"}, "", []option{{"--requirepass", apart}, {"--masterauth", apart}}},
	{
		[]string{
			"mysql", "mysqladmin", "mysqlbinlog", "mysqlcheck", "mysqldump", "mysqlimport", "mysqlpump", "mysqlshow", "mysqlslap",
			"mariadb", "mariadb-admin", "mariadb-check", "mariadb-dump", "mariadb-import", "mariadb-show",
		},
		"",
		[]option{{"-p", attached}}, // what stands apart is the database
	},
	{[]string{"mongo", "mongosh", "mongodump", "mongoexport", "mongoimport", "mongorestore", "mongostat", "mongotop"}, "", []option{{"-p", apart}}},
	{[]string{"sqlcmd", "bcp"}, "", []option{{"-P", both}}},
	{[]string{"az", "buildah", "cf", "docker", "helm", "nerdctl", "oc", "podman", "skopeo"}, "login", []option{{"-p", apart}}},
	{[]string{"ldapadd", "ldapcompare", "ldapdelete", "ldapmodify", "ldapmodrdn", "ldapsearch", "ldapwhoami"}, "", []option{{"-w", both}}},
	{[]string{"ldappasswd"}, "", []option{{"-w", both}, {"-a", both}, {"-s", both}}},
	{
		[]string{"snmpbulkget", "snmpbulkwalk", "snmpdf", "snmpget", "snmpgetnext", "snmpinform", "snmpset", "snmpstatus", "snmptable", "snmptrap", "snmpwalk"},
		"",
		[]option{{"-c", both}, {"-A", both}, {"-X", both}},
	},
	{[]string{"ipmitool"}, "", []option{{"-P", both}}},
	{[]string{"net", "rpcclient", "smbclient"}, "", []option{{"-U", both.behind('%')}}},
	{[]string{"zip", "unzip"}, "", []option{{"-P", both}}},
	{[]string{"7z", "7za", "7zr", "rar", "unrar"}, "", []option{{"-p", attached}}},
}

// naming are options behind which the name of a program is that of something else.
var naming = []string{"--container", "--host", "--hostname", "--name", "--net", "--network", "--network-alias", "--service", "-h", "-n"}

// byProgram are the families by the name of a program.
var byProgram = func() map[string][]*family {
	all := map[string][]*family{}
	for i := range families {
		for _, name := range families[i].programs {
			all[name] = append(all[name], &families[i])
		}
	}
	return all
}()

// Marks are the names of all options behind a space, in small letters.
func Marks() []string {
	var marks []string
	for _, f := range families {
		for _, o := range f.options {
			marks = append(marks, " "+strings.ToLower(o.name))
		}
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// maxWords is how many words of a line are looked at.
const maxWords = 64

// Of is the option at the end of a command line, whose value comes next. It allocates nothing.
func Of(line []byte) Option {
	if i := bytes.LastIndexAny(line, "|;&(`"); i >= 0 {
		line = line[i+1:]
	}
	words := make([][]byte, 0, maxWords)
	for word := range bytes.FieldsSeq(line) {
		if len(words) == maxWords {
			return Option{}
		}
		words = append(words, word)
	}
	for i := len(words) - 2; i >= 0; i-- {
		program := bytes.Trim(words[i], "\"'[],$#>")
		all := byProgram[string(program[bytes.LastIndexByte(program, '/')+1:])]
		if len(all) == 0 || i > 0 && among(naming, words[i-1]) { // docker run --name mongo
			continue
		}
		for _, f := range all {
			if f.command != "" && !slices.ContainsFunc(words[i+1:], func(w []byte) bool { return string(w) == f.command }) {
				continue
			}
			for _, o := range f.options {
				if o.name == string(words[len(words)-1]) {
					return o.Option
				}
			}
		}
	}
	return Option{}
}

func among(list []string, word []byte) bool {
	return slices.ContainsFunc(list, func(s string) bool { return s == string(word) })
}
