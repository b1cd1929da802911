package app

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy/identity/ldap"
)

// ldapTest is what POST /ldap/test on the control socket is asked; the answer is a [ldap.Report].
type ldapTest struct {
	User     string `json:"user"`
	Password string `json:"password,omitempty"`
}

// serveLDAPTest lets an admin try the directory of the running configuration.
func (a *App) serveLDAPTest(w http.ResponseWriter, r *http.Request) {
	var in ldapTest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&in); err != nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: `The body must be {"user", "password"?}.`})
		return
	}
	if a.directory == nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "no_directory", Detail: errNoDirectory.Error()})
		return
	}
	a.answer(w, a.directory.Explain(r.Context(), in.User, in.Password))
}

var errNoDirectory = errors.New("auth.mode has no ldap, so there is no directory to ask")

func ldapTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ldap-test USER", Short: "Looks a user of the directory up and shows each step", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Looks a user of the directory up as a login does, and shows each step with its
result and time: connect, tls, bind (of the account that searches), entry,
password, groups, role. It ends with 1 when the user would not be let in.

A running service does it with its configuration; without one, or with --config,
the command does it by itself. Without --password-stdin no password is tried. A
wrong one counts as a failure in the directory.`,
	}
	stdin := cmd.Flags().Bool("password-stdin", false, "read the user's password from stdin and try it")
	config := cmd.Flags().String("config", "", "try this Caddyfile's settings instead of the running service's")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		in := ldapTest{User: args[0]}
		if *stdin {
			line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 4096)).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("reading the password: %w", err)
			}
			if in.Password = strings.TrimRight(line, "\r\n"); in.Password == "" {
				return cli.Usagef("--password-stdin: the password is empty")
			}
		}
		report, err := explain(cmd.Context(), in, *config)
		if err != nil {
			return err
		}
		if *asJSON {
			err = cli.JSON(cmd.OutOrStdout(), report)
		} else {
			err = printReport(cmd.OutOrStdout(), report)
		}
		if err == nil && report.Error != "" {
			err = cli.Exit(cli.ExitError)
		}
		return err
	})
	cli.Group(cmd)
	return cmd
}

// explain asks the running service, or else the directory itself.
func explain(ctx context.Context, in ldapTest, config string) (report ldap.Report, err error) {
	home, err := LocateHome()
	if err != nil {
		return report, err
	}
	var sections json.RawMessage
	if config == "" {
		err := cli.NewClient(home).Do(ctx, http.MethodPost, "/ldap/test", in, &report)
		if !errors.Is(err, cli.ErrNotRunning) && !problem.HasCode(err, cli.NotReady) {
			return report, err
		}
	} else if sections, err = configured(config); err != nil {
		return report, err
	}
	s, _, err := Resolve(home, sections)
	if err != nil {
		return report, err
	}
	d, err := newDirectory(s)
	if err != nil {
		return report, err
	}
	if d == nil {
		return report, errNoDirectory
	}
	defer d.Close()
	return d.Explain(ctx, in.User, in.Password), nil
}

// configured returns the app's part of a configuration file.
func configured(file string) (json.RawMessage, error) {
	doc, _, _, err := caddycmd.LoadConfig(file, "")
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	var config struct {
		Apps struct {
			Svc json.RawMessage `json:"svc"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(doc, &config); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return config.Apps.Svc, nil
}

func printReport(w io.Writer, r ldap.Report) error {
	rows := make([][]string, len(r.Steps))
	for i, s := range r.Steps {
		result := "ok"
		if s.Error != "" {
			result = "FAILED"
		}
		rows[i] = []string{s.Name, result, fmt.Sprintf("%.1f ms", s.Duration), cmp.Or(s.Error, s.Detail)}
	}
	if err := cli.Table(w, []string{"step", "result", "time", "detail"}, rows); err != nil {
		return err
	}
	if r.Error != "" {
		_, err := fmt.Fprintf(w, "Not let in: %s\n", r.Error)
		return err
	}
	_, err := fmt.Fprintf(w, "Let in as %s with the role %s.\n", r.User, r.Role)
	return err
}
