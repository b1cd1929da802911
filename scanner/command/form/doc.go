// Package form knows words and lines of commands by how they are written: paths of files that hold secrets, the
// prompts of devices.
//
//	form.Secret("/etc/shadow")    // true
//	form.Prompt("r1# show clock") // 4
//
// # How
//
// They are read by hand. The expressions that say the same take several times as long, and tests and a fuzz
// target hold that both find the same.
//
// # Guarantees
//
// The time grows with the length of the word and no faster. No file is looked at.
//
// # Concurrency
//
// The functions are safe for concurrent use.
package form
