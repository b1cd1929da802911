package memory

import "slices"

// maxAsked is how many words of a task are looked for.
const maxAsked = 16

// Asked are the words of a task by which memories are found, each once: without those that stand in every
// text. Of a long task the last ones count, which say what is wanted.
func Asked(task string) []string {
	if len(task) > maxTask {
		task = task[len(task)-maxTask:]
	}
	var words []string
	for _, w := range slices.Backward(Words(task)) {
		if len(words) < maxAsked && len(w) <= maxWord && !common[w] && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	slices.Reverse(words)
	return words
}

// everything reports whether the words of a task ask for whatever is known, and for nothing in particular.
func everything(words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !known[w] })
}

// known are the words of such a question, in English, German, French, Spanish and Italian.
var known = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range Words(`everything anything know known knowledge remember remembered recall memory memories note notes earlier conversation conversations
		alles weißt wissen erinnerst erinnern erinnerung erinnerungen gemerkt notizen
		souviens rappelles mémoire mémoires sais tout recuerdas recuerdos memoria memorias sabes todo ricordi memorie sai tutto
		je moi te qué que de mí cosa`) {
		set[w] = true
	}
	return set
}()

const (
	maxTask = 4 << 10 // bytes of a task that are looked at
	maxWord = 64      // bytes of a word
)

// common are words that say nothing of what a text is about, in English and German.
var common = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range Words(`a about after all also am an and any are as at be been before but by can could did do does for from had has have
		he her here his how i if in into is it its just let like me more my no not now of on or our please s she should show so some t tell
		than that the their them then there these they this those to up us was we were what when where which who whom whose why will with
		would you your
		aber als am an auch auf aus bei bin bist bitte da das dass dein dem den der des die dir du ein eine einem einen einer er es für hat
		ich ihr im ist ja kann man mein meine mich mir mit nach nicht noch nun nur oder sein sich sie sind so über um und uns unser von vor
		war was wenn wer wie wir wird wo zu zum zur`) {
		set[w] = true
	}
	return set
}()
