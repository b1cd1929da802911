package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/model/probe"
	"github.com/svc-gateway/svc/agents/model/router"
	agentsmodule "github.com/svc-gateway/svc/caddymodule/agents"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/internal/suggest"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "models", Short: "Tests the language models",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "models"
			cli.Group(cmd, modelsTestCommand())
		},
	})
}

func modelsTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "test [NAME…]", Short: "Asks the models a short question with a call of a tool",
		Long: `Asks each model of the settings, or those that are named, to call a tool and to say what it returned, and
prints what works, how long it took, and what to do about what does not. The model of the section model is
called default. The keys are taken from the environment of this command: run it with that of the service.
Providers may charge for the question. Exit code 1 says that a model is of no use to agents.`,
		Example: `  service models test
  service models test local --json
  service models test --set model.provider=openai --set model.base_url=http://127.0.0.1:11434/v1 --set model.name=qwen3`,
	}
	var o startOptions
	cmd.Flags().StringVar(&o.config, "config", "", "Caddyfile, or Caddy's JSON in a file that ends in .json, with the settings of the models")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "a setting, as section.key=value; may be repeated")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, names []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		s, err := o.settings(cmd.ErrOrStderr(), home)
		if err != nil {
			return err
		}
		asked, err := askedModels(s, names)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		reports := testModels(ctx, s, asked)
		if *asJSON {
			err = cli.JSON(cmd.OutOrStdout(), map[string]any{"models": reports})
		} else {
			err = printModels(cmd.OutOrStdout(), reports)
		}
		if err == nil && slices.ContainsFunc(reports, func(r modelReport) bool { return !r.Works }) {
			return cli.Exit(cli.ExitError)
		}
		return err
	})
	cli.Group(cmd)
	return cmd
}

// askedModels are the models of the settings with these names; all of them without names.
func askedModels(s settings.Settings, names []string) ([]router.Named, error) {
	all, err := agentsmodule.Models(s)
	if err != nil || len(names) == 0 {
		return all, err
	}
	var known []string
	for _, m := range all {
		known = append(known, m.Name)
	}
	var asked []router.Named
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, cli.Usagef("there is no model %q%s; the models are %s", name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
		}
		asked = append(asked, all[i])
	}
	return asked, nil
}

// modelReport is what was found out of a model, for programs.
type modelReport struct {
	Name         string  `json:"name"`
	Provider     string  `json:"provider"`
	Server       string  `json:"server,omitempty"` // scheme, host and port
	Model        string  `json:"model"`            // as the server calls it, if it answered
	Works        bool    `json:"works"`
	Answers      bool    `json:"answers"`
	CallsTools   bool    `json:"calls_tools"`
	Streams      bool    `json:"streams"`
	FirstPieceMS int64   `json:"first_piece_ms,omitempty"`
	TookMS       int64   `json:"took_ms"`
	Tokens       int64   `json:"tokens,omitempty"`
	Estimated    bool    `json:"tokens_estimated,omitempty"`
	Error        *string `json:"error"` // what is the matter, and what to do
}

// testModels asks the models side by side: none waits for one that does not answer.
func testModels(ctx context.Context, s settings.Settings, asked []router.Named) []modelReport {
	reports := make([]modelReport, len(asked))
	var all sync.WaitGroup
	for i, m := range asked {
		all.Go(func() { reports[i] = testModel(ctx, settingsOf(s, m.Name), m) })
	}
	all.Wait()
	return reports
}

func testModel(ctx context.Context, s settings.Model, m router.Named) modelReport {
	r := modelReport{Name: m.Name, Provider: s.Provider, Model: m.Model.Name()}
	if u, err := url.Parse(s.Address()); err == nil && u.Host != "" {
		r.Server = u.Scheme + "://" + u.Host
	}
	if err := s.CheckKey(os.LookupEnv); err != nil {
		text := err.Error()
		r.Error = &text
		return r
	}
	got := probe.Run(ctx, m.Model)
	if got.Model != "" {
		r.Model = got.Model
	}
	r.Works, r.Answers, r.CallsTools, r.Streams = got.Err == nil, got.Answers, got.CallsTools, got.Streams
	r.FirstPieceMS, r.TookMS, r.Tokens, r.Estimated = got.FirstPiece.Milliseconds(), got.Took.Milliseconds(), got.Tokens, got.Estimated
	if got.Err != nil {
		text := problemOf(got.Err)
		r.Error = &text
	}
	return r
}

// problemOf is what people are told of a model's error: the probe's are for them as they are.
func problemOf(err error) string {
	for _, own := range []error{probe.ErrNoCall, probe.ErrWrongCall, probe.ErrEmptyAnswer} {
		if errors.Is(err, own) {
			return err.Error()
		}
	}
	return model.ClientMessage(err)
}

func settingsOf(s settings.Settings, name string) settings.Model {
	for _, n := range s.NamedModels() {
		if n.Called == name {
			return n.Model
		}
	}
	return s.Model
}

func printModels(w io.Writer, reports []modelReport) error {
	yes := map[bool]string{true: "yes", false: "no"}
	var rows [][]string
	for _, r := range reports {
		tokens := fmt.Sprint(r.Tokens)
		if r.Estimated {
			tokens = "about " + tokens
		}
		rows = append(rows, []string{
			r.Name, r.Model, r.Provider, r.Server, yes[r.Answers], yes[r.CallsTools], yes[r.Streams],
			(time.Duration(r.TookMS) * time.Millisecond).String(), tokens,
		})
	}
	if err := cli.Table(w, []string{"name", "model", "provider", "server", "answers", "calls tools", "streams", "took", "tokens"}, rows); err != nil {
		return err
	}
	for _, r := range reports {
		if r.Error != nil {
			if _, err := fmt.Fprintf(w, "\n%s: %s\n", r.Name, cli.OneLine(*r.Error)); err != nil {
				return err
			}
		}
	}
	return nil
}
