// Command bench measures the service on the machine it runs on and holds the figures against
// the aims of docs/performance.md.
//
// # Use
//
//	make bench                                        (builds the service first)
//	go run ./bench [-binary build/service] [-quick] [-json] [-only stages,runs] [-rounds 3]
//
// Run it in the root of the repository. It takes about ten minutes, with -quick about three.
// What it measures:
//
//   - stages: the same upstream, a process of its own, through the binary as bare reverse_proxy
//     (a) and through all stages in front of it (b), in turns: 1 KB of JSON there and back, and
//     event streams, at 1, 16 and 256 clients;
//   - portkey: chat completions, whole and as event streams, through bare reverse_proxy, all stages, and the
//     gateway of Portkey, which is installed from npm the first time; what cannot be had is left out;
//   - auth: the same upstream behind svc_auth alone, with each kind of credential, over a store of
//     100,000 users and 300,000 tokens;
//   - logins: requests with a token while 1,000 people of a directory (slapd) log in at once, next
//     to the same while they log in somewhere else;
//   - posts: requests with a token while twenty posts of 4 MB are scanned, next to the same while none is;
//   - runs: complete agent runs with the demo model over POST /runs/stream;
//   - agentserver: runs and threads over the agent server protocol, next to its reference development server,
//     which is installed from npm the first time and runs ten runs side by side;
//   - audit: the log against a bare SQLite group commit (BenchmarkRecord of audit/sqlite);
//   - sandbox: from the start to the exit of true in a sandbox, next to bubblewrap; fifty at once; the
//     end of a fork bomb;
//   - database: the analytical database, with a million rows: importing, a snapshot, a query;
//   - contents: how fast the scanner reads source code, documentation, logs, data and the like, by kind;
//   - start: how long web start takes, and the memory of the idle service;
//   - streams: the memory of a waiting event stream, with thousands of them open.
//
// # Guarantees
//
// Every response is checked, its status and all of its content; the first that is wrong ends the
// run with exit code 1. Figures are medians over rounds in which (a) and (b) take turns, ratios
// are medians of the rounds' ratios: noise of the machine meets both. Only loopback addresses and
// a temporary folder are used, and only processes that it started itself are ended. An aim that
// is missed is reported and is no error.
//
// # Concurrency
//
// One measurement runs at a time; within one, each client is a goroutine with a connection of its
// own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if is, err := helper(os.Args[1:]); is {
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// helper is what another process of this program was started for, if it was.
func helper(args []string) (is bool, err error) {
	switch {
	case len(args) == 1 && args[0] == upstreamCommand:
		return true, runUpstream(os.Stdin, os.Stdout)
	case len(args) == 2 && args[0] == peopleCommand:
		return true, runPeople(args[1], os.Stdin, os.Stdout)
	}
	return false, nil
}

// options are what the command line says.
type options struct {
	binary string
	only   string
	stages string
	json   bool
	plan   plan
}

func parse(args []string) (options, error) {
	var o options
	var quick bool
	var rounds int
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&o.binary, "binary", "build/service", "the service's `program`")
	fs.StringVar(&o.only, "only", "", "measure only these, of "+strings.Join(partNames(), ","))
	fs.StringVar(&o.stages, "stages", strings.Join(stageNames, ","), "measure these in the part stages")
	fs.BoolVar(&o.json, "json", false, "print the figures as JSON")
	fs.BoolVar(&quick, "quick", false, "less than a minute, with rougher figures")
	fs.IntVar(&rounds, "rounds", 0, "rounds of each measurement (default 3, quick 1)")
	if err := fs.Parse(args); err != nil {
		return options{}, err
	}
	if fs.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: bench takes flags only", fs.Arg(0))
	}
	o.plan = fullPlan
	if quick {
		o.plan = quickPlan
	}
	if rounds > 0 {
		o.plan.rounds = rounds
	}
	var err error
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return options{}, fmt.Errorf("locating the service: %w", err)
	}
	if _, err := os.Stat(o.binary); err != nil {
		return options{}, fmt.Errorf("locating the service: %w; build it with make build, or name it with -binary", err)
	}
	return o, nil
}

// part is one of the measurements.
type part struct {
	name    string
	measure func(*bench, context.Context) error
}

var parts = []part{
	{"stages", (*bench).stages},
	{"portkey", (*bench).portkey},
	{"auth", (*bench).auth},
	{"logins", (*bench).logins},
	{"posts", (*bench).posts},
	{"runs", (*bench).runs},
	{"agentserver", (*bench).agentServer},
	{"audit", (*bench).audit},
	{"sandbox", (*bench).sandbox},
	{"database", (*bench).database},
	{"contents", (*bench).contents},
	{"start", (*bench).start},
	{"streams", (*bench).streams},
	{"kept", (*bench).kept},
}

func partNames() []string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return names
}

func (o options) parts() ([]part, error) {
	if o.only == "" {
		return parts, nil
	}
	var some []part
next:
	for name := range strings.SplitSeq(o.only, ",") {
		for _, p := range parts {
			if p.name == name {
				some = append(some, p)
				continue next
			}
		}
		return nil, fmt.Errorf("-only: unknown part %q: want some of %s", name, strings.Join(partNames(), ","))
	}
	return some, nil
}

func run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	chosen, err := o.parts()
	if err != nil {
		return err
	}
	full, err := withStages(stagesCaddyfile, strings.Split(o.stages, ","))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "svc-bench-")
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bench{site: site{dir: dir, binary: o.binary}, plan: o.plan, full: full, report: newReport(o.plan)}
	for _, p := range chosen {
		fmt.Fprintf(os.Stderr, "bench: measuring %s\n", p.name)
		err := p.measure(b, ctx)
		if errors.Is(err, errNotHere) && o.only == "" {
			fmt.Fprintf(os.Stderr, "bench: %s is left out: %v\n", p.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("measuring %s: %w", p.name, err)
		}
	}
	b.report.judge()
	if o.json {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(b.report)
	}
	return b.report.print(os.Stdout)
}

// bench is one run of the program.
type bench struct {
	site   site
	plan   plan
	full   string // the Caddyfile that the part stages compares with bare reverse_proxy
	report *report
}

// progress says on standard error what is being measured.
func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench:   "+format+"\n", args...)
}
