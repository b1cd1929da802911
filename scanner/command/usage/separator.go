package usage

import "strings"

// separators end a command of programs that take several in their words. Such a word is never one that only
// reads, wherever it stands, and what a word is has to be known.
var separators = map[string]string{"tmux": ";\n", "nft": ";\n", "birdc": ";\n", "birdcl": ";\n", "vtysh": ";\n|>"}

// separated returns the first word that is or may be more than one command to the program, -1 without one.
func separated(program string, words []Word) int {
	ends, ok := separators[program]
	if !ok {
		return -1
	}
	for i, w := range words {
		if !w.Fixed || strings.ContainsAny(w.Text, ends) {
			return i
		}
	}
	return -1
}
