package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// Words of Perl, Ruby, PHP, Lua, awk, R and of editors' scripts.
var (
	scriptDeletes = text.Words("unlink rmtree remove_tree rm_rf rm_r rmdir remove_entry remove_entry_secure delete_tree file.remove unlinksync os.remove fileutils.rm_rf")
	scriptRuns    = text.Words("system exec qx popen shell_exec passthru proc_open execute shell backtick backticks spawn shellescape capture io.popen os.execute script doshellscript")
)

// scriptEffects returns what a program in a language does that is not parsed: words that delete,
// and command lines in strings behind words that run them.
func scriptEffects(text string, depth int) (effects []effect) {
	tokens := python{text: text}.tokens(0, len(text))
	runs, line := false, ""
	for i, t := range tokens {
		switch {
		case t.kind == tokenName && scriptDeletes.HasFoldString(t.text):
			effects = append(effects, effect{dangerous(RecursiveDeletion, "the program deletes files"), "", t.start, t.end})
		case t.kind == tokenName && scriptRuns.HasFoldString(t.text):
			runs = true
			if i+1 < len(tokens) && tokens[i+1].is("/", "{", "(", "[", "|", "!") && (t.text == "qx" || t.text == "exec") {
				effects = append(effects, lineEffects(strings.Trim(text[tokens[i+1].end:], "/{}()[]|! "), depth)...)
			}
		case t.kind == tokenName && t.text == "print" && i+1 < len(tokens) && tokens[i+1].kind == tokenString:
			runs = strings.Contains(text, "|") // print "…" | "sh"
		case t.kind == tokenString && runs:
			effects = append(effects, lineEffects(t.text, depth)...)
			if i > 1 && tokens[i-1].is(",") && tokens[i-2].kind == tokenString { // exec "rm", "-r", "x"
				line += " '" + strings.ReplaceAll(t.text, "'", `'\''`) + "'"
				effects = append(effects, lineEffects(line, depth)...)
			} else {
				line = t.text
			}
		case t.is("!") && i+1 < len(tokens) && tokens[i+1].kind == tokenName: // :!rm -rf x
			end := strings.IndexByte(text[t.end:], '\n')
			if end < 0 {
				end = len(text) - t.end
			}
			effects = append(effects, lineEffects(text[t.end:t.end+end], depth)...)
		case t.kind == tokenMark && t.text == "`":
			line, _, _ := strings.Cut(text[t.end:], "`")
			effects = append(effects, lineEffects(line, depth)...)
		case t.is(";", "}"):
			runs = false
		}
	}
	return effects
}
