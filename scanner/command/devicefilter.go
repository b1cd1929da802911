package command

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/svc-gateway/svc/scanner/command/device"
)

// fromDevice reports whether what a statement prints comes from a device: a command that shows something,
// perhaps filtered.
func (w *shell) fromDevice(s *syntax.Stmt) bool {
	if len(s.Redirs) > 0 {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 || c.Args[0].Lit() == "" || hostProgram(c.Args[0].Lit()) {
			return false
		}
		node, _ := deviceRoot.find(c.Args[0].Lit())
		return node != nil
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe && w.fromDevice(c.X)
	}
	return false
}

// filter judges what the output of a device is piped into. What is no filter is a command like any other,
// and more than that to the device: file, redirect, append, tee, save.
func (w *shell) filter(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(s.Redirs) > 0 {
		return false
	}
	for _, word := range c.Args {
		w.substitutions(word)
	}
	args := call(w.words(c.Args))
	if len(args) == 0 || args.dynamic() || !device.Filters(args[0].text, args[1:].words()) {
		return false
	}
	w.record(args[0].text, args)
	w.raise(verdict{class: ReadOnly}, w.place(c))
	return true
}
