package scanner

// shellEffects returns what a script does, each command at its place.
func shellEffects(text string) []effect { return lineEffects(text, 0) }

// lineEffects analyses a script as AnalyzeCommand does.
func lineEffects(text string, depth int) []effect {
	a := newAnalysis(text)
	a.quoted = depth
	a.any(text, 0, nil)
	return a.effects
}
