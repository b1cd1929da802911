//go:build cgo && linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/duckwire"
)

// The limits of a statement of a program, unless it asks for others. The sandbox has limits of its own,
// which hold in any case.
const (
	sqlRows    = 100_000
	sqlBytes   = 64 << 20
	sqlMemory  = 1 << 30
	sqlThreads = 2
	sqlTime    = time.Hour
)

// statement runs a statement on the database of the sandbox that this process is in, prints the answer as JSON
// and what is wrong on errors, and returns the exit code. The statement is an argument, or else the
// input. It is confined as one of query is.
func statement(args []string, in io.Reader, out, errs io.Writer) int {
	q, err := statementQuestion(args, in)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(errs, usage)
		return 2
	}
	var a duckwire.Answer
	if err == nil {
		if a = answer(q); a.Fault != nil {
			err = a.Fault
		}
	}
	text := ""
	if err == nil {
		text, err = a.Document()
	}
	if err != nil {
		fmt.Fprintln(errs, "svc-duck:", err)
		return 1
	}
	if _, err := out.Write(append(printable([]byte(text)), '\n')); err != nil {
		return 1 // nobody reads it
	}
	return 0
}

func statementQuestion(args []string, in io.Reader) (duckwire.Query, error) {
	q := duckwire.Query{Version: compat.Version, Time: sqlTime, Memory: affordable(), Threads: min(sqlThreads, runtime.NumCPU())}
	flags := flag.NewFlagSet(duckwire.CommandSQL, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&q.Rows, "rows", sqlRows, "")
	flags.IntVar(&q.Bytes, "bytes", sqlBytes, "")
	if err := flags.Parse(args); err != nil {
		return q, err
	}
	switch {
	case os.Getenv(duckwire.DatabaseVariable) == "":
		return q, fmt.Errorf("there is no database here: the variable %s is not set", duckwire.DatabaseVariable)
	case flags.NArg() > 1:
		return q, errors.New("write the statement as one argument, in quotes")
	case flags.NArg() == 1:
		q.SQL = flags.Arg(0)
	default:
		text, err := io.ReadAll(io.LimitReader(in, maxQuery))
		if err != nil {
			return q, fmt.Errorf("reading the statement: %w", err)
		}
		q.SQL = string(text)
	}
	if strings.TrimSpace(q.SQL) == "" {
		return q, errors.New("there is no statement: write one as the argument, or to the input")
	}
	return q, nil
}

// affordable is how much memory the database may use of what the process may take, which is as much as
// the sandbox.
func affordable() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &limit); err != nil || limit.Cur > math.MaxInt64 {
		return sqlMemory
	}
	return min(sqlMemory, max(int64(limit.Cur)/2, 16<<20))
}
