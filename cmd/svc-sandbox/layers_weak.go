//go:build svc_weak_sandbox

package main

import (
	"os"
	"slices"
	"strings"
)

// off reports whether the environment variable SVC_SANDBOX_WITHOUT names a layer. The tests build
// such a helper to see what a layer is for; it is never installed.
func off(l layer) bool {
	return slices.Contains(strings.Split(os.Getenv("SVC_SANDBOX_WITHOUT"), ","), string(l))
}

// weakened is what a supervisor hands on of its environment.
func weakened() []string { return []string{"SVC_SANDBOX_WITHOUT=" + os.Getenv("SVC_SANDBOX_WITHOUT")} }
