// Package text is what the detectors of the scanner share about text: classes of bytes, comparing
// without regard to case, sets of words, characters that cannot be seen, what others are written as
// in ASCII, and rot13.
//
//	verbs := text.Words("list show get")
//	if verbs.HasFoldString(name) && text.Is(line[0], text.Letter) { … }
//
// The functions neither allocate, unless they return a text, nor look at more than their arguments.
// They are safe for concurrent use; a [Set] is never changed.
package text
