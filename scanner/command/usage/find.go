package usage

import (
	"path"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

var (
	// findTests are the words of an expression of find that take nothing.
	findTests = text.Words(`-a -and -o -or -not ! ( ) , -true -false -print -print0 -ls -prune -quit -depth -d -mount -xdev -empty -executable -readable -writable
		-daystart -follow -noleaf -nouser -nogroup -ignore_readdir_race -noignore_readdir_race -warn -nowarn -H -L -P -O0 -O1 -O2 -O3`)
	// findValues take a word.
	findValues = text.Words(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin
		-newer -anewer -cnewer -newermt -newerat -newerct -newermm -neweram -newercm -newerma -newermc -newerBt -user -group -uid -gid -perm -maxdepth -mindepth -links -inum -samefile -fstype
		-lname -ilname -printf -used -context -D`)
	// findRuns run a command, which is judged apart.
	findRuns = text.Words("-exec -execdir -ok -okdir")
	// findWrites delete, or write a file.
	findWrites = []string{"-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-exec", "-execdir", "-ok", "-okdir", "-files0-from"}
)

// checkFind reads an expression of find. The commands that it runs are judged apart.
func checkFind(p *parsed) string {
	for i := 0; i < len(p.words); i++ {
		w := p.words[i]
		p.word = i
		switch {
		case !w.Fixed && !findFits(w):
			return "it is only known at run time which words of find this becomes"
		case !w.Fixed:
			p.roles[i] = Operand
		case findTests.HasString(w.Text):
			p.roles[i] = Option
		case findValues.HasString(w.Text):
			if p.roles[i] = Option; i+1 == len(p.words) {
				return "find " + w.Text + " has no value"
			}
			i++
			if v := p.words[i]; !v.Fixed && (v.Split || v.Many && !findFits(v)) {
				p.word = i
				return "it is only known at run time which words of find this becomes"
			}
			p.roles[i] = Value
		case findRuns.HasString(w.Text):
			p.roles[i] = Option
			for i++; i < len(p.words) && p.words[i].Text != ";" && (p.words[i].Text != "+" || p.words[i-1].Text != "{}"); i++ {
				p.roles[i] = Command
			}
			if i == len(p.words) {
				return "find has a command without an end"
			}
			p.roles[i] = Option
		case strings.HasPrefix(w.Text, "-"):
			return "find " + w.Text + " is not known to only read"
		default:
			p.roles[i] = Operand
		}
	}
	p.word = -1
	return ""
}

// maxPattern is how long a pattern may be that is compared with words, in bytes.
const maxPattern = 512

// findFits reports whether a word that is not known may become none that does more than read.
func findFits(w Word) bool {
	if w.Head != "" && w.Head[0] != '-' && w.Head[0] != '(' && w.Head[0] != '!' && !w.Split {
		return true
	}
	if w.Split || w.Head != "" || !w.Many || len(w.Text) > maxPattern {
		return false
	}
	for _, word := range findWrites { // of an unquoted pattern
		if ok, err := path.Match(w.Text, word); ok || err != nil {
			return false
		}
	}
	return true
}
