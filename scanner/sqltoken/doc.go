// Package sqltoken splits SQL into its tokens.
//
//	for at := 0; ; {
//		t, ok := sqltoken.SQLite.Next(query, at)
//		if !ok {
//			break
//		}
//		at = t.End
//	}
//
// A [Dialect] says what databases disagree about: [SQLite] reads as SQLite does, [Any] as whichever
// database would make most of the text. White space, control characters and comments are no tokens.
// A string, name or comment without an end reaches to the end of the text.
//
// The functions never fail, do no I/O, look at each byte once and are safe for concurrent use. The
// package stands beside the ones that judge statements, because the audit log asks for tokens as well
// and must not need a shell's parser for that.
package sqltoken
