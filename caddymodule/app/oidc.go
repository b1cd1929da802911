package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// oidcTest is what POST /oidc/test on the control socket is asked; the answer is an
// [identity.Report].
type oidcTest struct {
	Token string `json:"token"`
}

// maxTestBody is the largest body of a test: what a header may hold, in JSON.
const maxTestBody = 2 << 20

// serveOIDCTest lets an admin try the providers of the running configuration.
func (a *App) serveOIDCTest(w http.ResponseWriter, r *http.Request) {
	var in oidcTest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxTestBody)).Decode(&in); err != nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: `The body must be {"token"}.`})
		return
	}
	if a.issuers == nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "no_issuer", Detail: errNoIssuer.Error()})
		return
	}
	a.answer(w, a.issuers.Explain(r.Context(), in.Token))
}

var errNoIssuer = errors.New("auth.mode has no oidc, so there is no identity provider to ask")

// explainHere asks the providers of the settings, without a running service.
func (in oidcTest) explainHere(ctx context.Context, s settings.Settings) (identity.Report, error) {
	if !s.Auth.Has(settings.ModeOIDC) {
		return identity.Report{}, errNoIssuer
	}
	set, err := oidc.New(s.Issuers(), oidc.Options{Env: os.LookupEnv})
	if err != nil {
		return identity.Report{}, err
	}
	defer set.Close()
	return set.Explain(ctx, in.Token), nil
}

func oidcTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "oidc-test TOKEN|-", Short: "Checks a bearer token of an identity provider and shows each step", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Checks a bearer token of an identity provider as the API does, and shows each step
with its result and time: form, issuer, header, keys, signature, times, audience,
kind, userinfo, user, role. It exits with 1 if the user would not be let in.

With - the token is read from stdin, where other users of this host do not see
it. If a service runs, it does this with its own configuration. Otherwise, or
with --config, the command does it.`,
	}
	config := cmd.Flags().String("config", "", "try this Caddyfile's settings instead of the running service's")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		in := oidcTest{Token: args[0]}
		if in.Token == "-" {
			line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), maxTestBody)).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("reading the token: %w", err)
			}
			in.Token = line
		}
		in.Token = strings.TrimPrefix(strings.TrimSpace(in.Token), "Bearer ")
		report, err := explain(cmd.Context(), "/oidc/test", in, *config)
		if err != nil {
			return err
		}
		return printReport(cmd.OutOrStdout(), report, *asJSON)
	})
	cli.Group(cmd)
	return cmd
}
