package scanner

// AnalyzeCommand tells what a command line would do. What cannot be told is [Unknown].
func AnalyzeCommand(text string) Command {
	return Command{Class: Unknown}
}
