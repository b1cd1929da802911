package app

import (
	"maps"
	"sync/atomic"
)

// processFlags are the settings given on the command line. They belong to the process, as
// its arguments do, and hold for every configuration that it loads.
var processFlags atomic.Pointer[map[string]string]

// SetFlags sets the settings given on the command line, by key. The program's main calls it
// before a configuration is loaded.
func SetFlags(values map[string]string) {
	values = maps.Clone(values)
	processFlags.Store(&values)
}

func flags() map[string]string {
	if p := processFlags.Load(); p != nil {
		return *p
	}
	return nil
}
