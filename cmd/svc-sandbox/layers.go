//go:build !svc_weak_sandbox

package main

// off reports whether a layer is to be left out. Programs built as usual leave out none: only the
// tests build others, with the tag svc_weak_sandbox.
func off(layer) bool { return false }

// weakened is what a supervisor hands on of its environment.
func weakened() []string { return nil }
