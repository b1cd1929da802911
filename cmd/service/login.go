package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/policy"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "login", Short: "Stores a token for the other commands, once the service has accepted it",
		CobraFunc: loginCommand,
	})
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "logout", Short: "Forgets the stored token", CobraFunc: logoutCommand,
	})
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "whoami", Short: "Says as whom the commands act", CobraFunc: whoamiCommand,
	})
}

func loginCommand(cmd *cobra.Command) {
	cmd.Use, cmd.Args = "login", cli.Args(cobra.NoArgs)
	stdin := cmd.Flags().Bool("token-stdin", false, "read the token from stdin")
	address := cmd.Flags().String("url", "", "address of the service (default "+defaultURL+")")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		t, err := overNetwork(cmd.Context(), home, *address)
		if err != nil {
			return err
		}
		if t.token, err = askToken(cmd, *stdin); err != nil {
			return err
		}
		p, err := t.whoami(cmd.Context())
		if err != nil {
			return err
		}
		if p.Source == policy.SourceNone {
			return fmt.Errorf("%s has auth.mode none and did not look at the token", t.base)
		}
		if err := home.WriteToken(t.token); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "Logged in at %s as %s, role %s.\n", t.base, p.User, p.Role)
		return nil
	})
	cli.Group(cmd)
}

// askToken reads the token without showing it.
func askToken(cmd *cobra.Command, stdin bool) (string, error) {
	in := cmd.InOrStdin()
	f, ok := in.(*os.File)
	if !stdin && (!ok || !term.IsTerminal(int(f.Fd()))) {
		return "", cli.Usagef("there is no terminal to ask for the token: use --token-stdin")
	}
	var text string
	if stdin {
		line, err := bufio.NewReader(io.LimitReader(in, 4096)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading the token: %w", err)
		}
		text = line
	} else {
		fmt.Fprint(cmd.ErrOrStderr(), "Token: ")
		line, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
		if err != nil {
			return "", fmt.Errorf("reading the token: %w", err)
		}
		text = string(line)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", errors.New("no token was given")
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("that is not a token: it has spaces or other signs in it")
	}
	return text, nil
}

func logoutCommand(cmd *cobra.Command) {
	cmd.Use, cmd.Args = "logout", cli.Args(cobra.NoArgs)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		err = os.Remove(home.Token())
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintln(cmd.OutOrStdout(), "There was no stored token.")
			return nil
		}
		if err != nil {
			return fmt.Errorf("forgetting the token: %w", err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), "Forgot the token. It still works: an admin ends it with service admin revoke-token.")
		return nil
	})
	cli.Group(cmd)
}

func whoamiCommand(cmd *cobra.Command) {
	cmd.Use, cmd.Args = "whoami", cli.Args(cobra.NoArgs)
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	address := cmd.Flags().String("url", "", "address of the service (default: that of the running one, else "+defaultURL+")")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		t, err := findTarget(cmd.Context(), *address)
		if err != nil {
			return err
		}
		p, err := t.whoami(cmd.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.JSON(cmd.OutOrStdout(), p)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s, role %s, known by %s", p.User, p.Role, p.Source)
		if !p.Expires.IsZero() {
			fmt.Fprintf(cmd.OutOrStdout(), ", until %s", p.Expires.Local().Format(time.RFC3339))
		}
		fmt.Fprintln(cmd.OutOrStdout())
		return nil
	})
	cli.Group(cmd)
}
