package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "login", Short: "Checks a token and stores it for the other commands",
		CobraFunc: loginCommand,
	})
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "logout", Short: "Deletes the stored token and ends its session", CobraFunc: logoutCommand,
	})
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "whoami", Short: "Prints the user that the commands act as", CobraFunc: whoamiCommand,
	})
}

func loginCommand(cmd *cobra.Command) {
	cmd.Use, cmd.Args = "login", cli.Args(cobra.NoArgs)
	cmd.Long = "Asks for a token, checks that the service accepts it, and stores it for the other commands, which\n" +
		"send it to this service alone, and ask this one unless --url says otherwise.\n" +
		"With --user it asks for the password of a user of the directory, and stores the token of a\n" +
		"session that it opens with the password."
	tokenStdin := cmd.Flags().Bool("token-stdin", false, "read the token from stdin")
	user := cmd.Flags().String("user", "", "log in with this user name and a password")
	passwordStdin := cmd.Flags().Bool("password-stdin", false, "read the password from stdin")
	address := cmd.Flags().String("url", "", "address of the service (by default that of the running one, else "+cli.DefaultURL+")")
	prefix := prefixFlag(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		switch {
		case *passwordStdin && *user == "":
			return cli.Usagef("--password-stdin needs --user")
		case *tokenStdin && *user != "":
			return cli.Usagef("--token-stdin and --user exclude each other")
		}
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		t, err := cli.OverNetwork(cmd.Context(), home, *address)
		if err != nil {
			return err
		}
		if t.Prefix = *prefix; *user == "" {
			t.Token, err = askToken(cmd, *tokenStdin)
		} else {
			t.Token, err = openSession(cmd, t, *user, *passwordStdin)
		}
		if err != nil {
			return err
		}
		p, err := t.Whoami(cmd.Context())
		if err != nil {
			return err
		}
		if p.Source == policy.SourceNone {
			return fmt.Errorf("%s has auth.mode none and did not check the token", t.Base)
		}
		kept, err := store(cmd.Context(), home, t, *user != "")
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "Logged in at %s as %s, role %s.\n", t.Base, p.User, p.Role)
		if kept != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "The token that was stored before is now in %s: delete it when it is stored elsewhere.\n", kept)
		}
		return nil
	})
	cli.Group(cmd)
}

// store makes the target's token the stored one, and returns where the one before is put aside: that of the
// first admin is stored nowhere else. No server is asked about it, as this one need not be its own.
func store(ctx context.Context, home settings.Home, t cli.Target, session bool) (kept string, err error) {
	old, err := cli.StoredToken(home)
	if err != nil {
		return "", err
	}
	if old != "" && old != t.Token {
		if kept, err = home.KeepToken(); err != nil {
			return "", err
		}
	}
	return kept, cli.Store(ctx, home, t, session)
}

func prefixFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("prefix", cli.DefaultPrefix, "the prefix of svc_auth at the service")
}

func openSession(cmd *cobra.Command, t cli.Target, user string, stdin bool) (token string, err error) {
	password, err := ask(cmd, "password", stdin)
	if err != nil {
		return "", err
	}
	return t.Login(cmd.Context(), user, password)
}

func askToken(cmd *cobra.Command, stdin bool) (string, error) {
	text, err := ask(cmd, "token", stdin)
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("that is not a token: it has characters that a token cannot have")
	}
	return text, nil
}

// ask reads a secret without showing it.
func ask(cmd *cobra.Command, what string, stdin bool) (string, error) {
	in := cmd.InOrStdin()
	f, ok := in.(*os.File)
	if !stdin && (!ok || !term.IsTerminal(int(f.Fd()))) {
		return "", cli.Usagef("there is no terminal to ask for the %[1]s: use --%[1]s-stdin", what)
	}
	var text string
	if stdin {
		var err error
		if text, err = cli.Line(in, 4096, what); err != nil {
			return "", err
		}
	} else {
		fmt.Fprint(cmd.ErrOrStderr(), strings.ToUpper(what[:1])+what[1:]+": ")
		line, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
		if err != nil {
			return "", fmt.Errorf("reading the %s: %w", what, err)
		}
		text = string(line)
	}
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("no %s was given", what)
	}
	return text, nil
}

func logoutCommand(cmd *cobra.Command) {
	cmd.Use, cmd.Args = "logout", cli.Args(cobra.NoArgs)
	cmd.Long = "Deletes the stored token. If the token is that of a session, the session ends."
	address := cli.URLFlag(cmd)
	prefix := prefixFlag(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		token, err := cli.StoredToken(home)
		if err != nil {
			return err
		}
		if token == "" {
			fmt.Fprintln(cmd.OutOrStdout(), "There was no stored token.")
			return nil
		}
		t, ended := cli.ForToken(cmd.Context(), home, *address, token)
		if ended == nil {
			t.Prefix = *prefix
			ended = t.Logout(cmd.Context())
		} else if !errors.Is(ended, cli.ErrNotRunning) {
			return ended
		}
		if err := os.Remove(home.Token()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forgetting the token: %w", err)
		}
		if err := home.NoteServer(token, ""); err != nil {
			return err
		}
		switch {
		case ended == nil:
			fmt.Fprintln(cmd.OutOrStdout(), "Ended the session and deleted its token.")
		case problem.HasCode(ended, "not_a_session"):
			fmt.Fprintln(cmd.OutOrStdout(), "Deleted the token. It still works; an admin can end it with "+cli.Command("admin revoke-token")+".")
		default:
			fmt.Fprintf(cmd.OutOrStdout(), "Deleted the token. It may still work: %v.\n", ended)
		}
		return nil
	})
	cli.Group(cmd)
}

// FindTarget is [cli.FindTarget] of this process's data folder.
func FindTarget(ctx context.Context, address string) (cli.Target, error) {
	home, err := app.LocateHome()
	if err != nil {
		return cli.Target{}, err
	}
	return cli.FindTarget(ctx, home, address)
}

func whoamiCommand(cmd *cobra.Command) {
	cmd.Use, cmd.Args = "whoami", cli.Args(cobra.NoArgs)
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	address := cli.URLFlag(cmd)
	prefix := prefixFlag(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		t, err := FindTarget(cmd.Context(), *address)
		if err != nil {
			return err
		}
		if t.Token != "" { // over the control socket it is where it always is
			t.Prefix = *prefix
		}
		p, err := t.Whoami(cmd.Context())
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
