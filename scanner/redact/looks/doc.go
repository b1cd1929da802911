// Package looks tells by its looks what a text is: letters as they come by chance, a name, the base64 of
// user and password.
//
//	if looks.Random([]byte("q2Lr9Tn4Vd0W")) { … }
//
// # Guarantees
//
// The functions look at their arguments only.
//
// # Concurrency
//
// They are safe for concurrent use.
package looks
