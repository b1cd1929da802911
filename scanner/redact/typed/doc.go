// Package typed reads what stands between the name of a variable and a string in languages with types: the type,
// and the call that makes a value of the string.
//
//	n, short := typed.Between([]byte(` string = "x"`)[1:], true, true) // 9, up to the quote
//
// # Guarantees
//
// The functions return the bytes up to the string, 0 where there is none, and look at some 100 bytes at most.
// short says that what follows the data decides, so that a text that comes in pieces is read as a whole is.
//
// # Concurrency
//
// The functions are safe for concurrent use.
package typed
