// Command train trains the statistical detector of package scanner/model and writes its weights and
// its model card.
//
// # Use
//
//	SVC_CORPORA=<folder> go run ./bench/train                # train, measure, write
//	SVC_CORPORA=<folder> go run ./bench/train -dry -show cse # print what is missed of a source
//
// It is run in the root of the repository. The folder holds files of JSON lines: id, text, label (1: an
// attack), category, source. Beside them it reads texts that nobody wrote for this, where they are on the
// machine: the documentation and source of Go, of the module cache, of packages of Node.js and Debian,
// the manual pages, and this repository's documentation. From the templates beside this program it
// makes attacks and harmless texts in ten languages.
//
// Texts that repeat others are left out. The sources are put into folds; each fold is judged by a model
// that was trained without it, and the thresholds are chosen by what such models make of harmless
// texts. Then all of it trains the model that is written.
//
// # Guarantees
//
// The same texts, templates and seed give the same weights. The texts are data: nothing that one says
// is followed or fetched, and none is copied.
//
// # Concurrency
//
// None that the result depends on: the folds are trained side by side.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// plan is what the flags say.
type plan struct {
	corpora string
	seed    uint64
	show    string // source whose mistakes are printed
	dry     bool   // nothing is written
	fast    bool   // a tenth of the harmless texts
}

// Where the results go.
const (
	weightsFile = "scanner/model/weights.bin"
	cardFile    = "scanner/model/MODEL.md"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	var p plan
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	flags.StringVar(&p.corpora, "corpora", os.Getenv("SVC_CORPORA"), "folder of the labelled texts; default SVC_CORPORA")
	flags.Uint64Var(&p.seed, "seed", 1, "of everything that is drawn by lot")
	flags.StringVar(&p.show, "show", "", "print the mistakes in this source")
	flags.BoolVar(&p.dry, "dry", false, "measure and write nothing")
	flags.BoolVar(&p.fast, "fast", false, "use a tenth of the texts of the machine")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if p.corpora == "" {
		return errors.New("no texts: set SVC_CORPORA or -corpora to their folder")
	}
	if _, err := os.Stat(filepath.Dir(weightsFile)); err != nil {
		return fmt.Errorf("finding where the weights go; run this in the root of the repository: %w", err)
	}
	set, err := gather(p)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d texts of %d sources\n", len(set.docs), len(set.sources()))
	scores := crossValidate(set, p.seed)
	limits := calibrate(set, scores)
	fmt.Fprintf(out, "thresholds %.2f and %.2f\n", limits.low, limits.high)
	table := measure(set, scores, limits)
	table.print(out)
	if p.show != "" {
		showMistakes(out, set, scores, limits, p.show)
	}
	if p.dry {
		return nil
	}
	return write(set, train(set, p.seed, noFold), limits, table)
}
