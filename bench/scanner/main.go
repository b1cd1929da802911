// Command scanner measures the packages of the scanner over labelled texts: what they find of each
// source and how often they are wrong.
//
// # Use
//
//	SVC_CORPORA=<folder> go run ./bench/scanner [-kind injection,obfuscated,homograph,redaction,command,code] [-half seen|unseen] [-show <source>]
//
// The folder holds JSON lines: id, text, label (1: should be found), category, source. A file that
// is not there is skipped and named. The texts of each source are cut into two halves by a hash of
// their ids: rules are written with the half "seen" in view, -show prints of that half only, and
// the half "unseen" tells how far they carry.
//
// # Guarantees
//
// It reads, counts and prints; nothing that a text says is followed or fetched. Two runs over the
// same folder print the same.
//
// # Concurrency
//
// None: one text after the other.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// kind is one thing that is measured.
type kind struct {
	name string
	run  func(m *measure) error
}

var kinds = []kind{
	{"injection", injection},
	{"obfuscated", obfuscated},
	{"homograph", homograph},
	{"redaction", redaction},
	{"command", commands},
	{"code", code},
}

// measure is what all kinds are given.
type measure struct {
	dir  string
	half string // seen, unseen or empty for both
	show string // source whose mistakes are printed
	out  io.Writer
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scanner:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	m := &measure{out: out}
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	flags := flag.NewFlagSet("scanner", flag.ExitOnError)
	only := flags.String("kind", strings.Join(names, ","), "what to measure")
	flags.StringVar(&m.dir, "corpora", os.Getenv("SVC_CORPORA"), "folder of the texts; default SVC_CORPORA")
	flags.StringVar(&m.half, "half", "", "seen or unseen; both when empty")
	flags.StringVar(&m.show, "show", "", "print the mistakes of this source, of the half seen")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if m.dir == "" {
		return errors.New("no texts: set SVC_CORPORA or -corpora to their folder")
	}
	for name := range strings.SplitSeq(*only, ",") {
		k, ok := kindNamed(name)
		if !ok {
			return fmt.Errorf("-kind: unknown kind %q: want some of %s", name, strings.Join(names, ","))
		}
		fmt.Fprintf(out, "\n## %s\n\n", name)
		if err := k.run(m); errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(out, "left out: %v\n", err)
		} else if err != nil {
			return fmt.Errorf("measuring %s: %w", name, err)
		}
	}
	return nil
}

func kindNamed(name string) (kind, bool) {
	for _, k := range kinds {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}
