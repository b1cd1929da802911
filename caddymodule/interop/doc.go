// Package interop holds no code but tests: foreign servers behind the stages, and their own clients in front,
// which must see no difference. docs/compatibility.md lists all that was tried.
package interop
