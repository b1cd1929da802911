package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// shellOptions are, for the programs that run what they are given as the value of -c, the letters of the
// options that make them run and write nothing else. What a user's own profile says counts as the host.
var shellOptions = map[string]string{
	"sh": "cefilmuvx", "bash": "cefilmuvx", "dash": "cefilmuvx", "ash": "cefilmuvx", "ksh": "cefilmuvx", "mksh": "cefilmuvx",
	"zsh": "cefilmuvx", "rbash": "cefilmuvx", "fish": "ciN", "csh": "cefvx", "tcsh": "cefvx",
}

// runsOnly reports whether the words before the program that a shell is given make it run that program and
// no other: no file of commands that it reads first, and nothing that it writes beside.
func runsOnly(name string, before call) bool {
	letters, ok := shellOptions[name]
	if !ok || before.dynamic() {
		return false
	}
	for i := 0; i < len(before); i++ {
		switch word := before[i].text; {
		case text.Lists("-o +o -O +O", word) && name != "fish" && i+1 < len(before):
			i++ // its name
			if strings.Trim(before[i].text, "abcdefghijklmnopqrstuvwxyz_") != "" {
				return false
			}
		case text.Lists("--norc --noprofile --no-rcs --no-config --posix --login --command", word):
		case len(word) < 2 || word[0] != '-' && word[0] != '+' || strings.Trim(word[1:], letters) != "":
			return false
		}
	}
	return true
}
