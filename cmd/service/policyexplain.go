package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/recorded"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/caddymodule/app/commands"
	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/cases"
)

// explanation is what service policy explain tells.
type explanation struct {
	Input    policy.Input    `json:"input"`
	Hidden   []string        `json:"hidden,omitempty"` // what the record does not hold
	Was      *policy.Verdict `json:"was,omitempty"`    // what is on record
	Decision policy.Decision `json:"decision"`
	Rules    []policy.Trace  `json:"rules"`
}

func policyExplainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain [CALL-ID]", Short: "Shows what each rule makes of a call", Args: cli.Args(cobra.MaximumNArgs(1)),
		Long: `Shows what each rule makes of a call, and which part of its expression decided with what values.
The call is one on record, by its id, or one that the flags describe. Nothing is run.`,
		Example: `  service policy explain --tool run_command --arg command='ss -l' --at 2027-01-31T18:30:00+01:00
  service policy explain call_019a8f6b0c5e7d2f8a1b3c4d5e6f7a8b`,
	}
	var c cases.Call
	f := cmd.Flags()
	f.StringVar(&c.User, "user", "", "who asks (somebody)")
	f.StringVar(&c.Role, "role", "", "the user's role (user)")
	f.StringArrayVar(&c.Groups, "group", nil, "a group of the user; may be repeated")
	f.StringVar(&c.Agent, "agent", "", "the agent that calls (core)")
	f.StringVar(&c.Tool, "tool", "", "the tool that is called")
	f.StringVar(&c.Skill, "skill", "", "the tool's skill")
	f.StringVar(&c.Action, "action", "", "the action, when it is not what the tool says")
	f.StringArrayVar(&c.Categories, "category", nil, "a category of the call; may be repeated")
	f.StringArrayVar(&c.Labels, "label", nil, "a source that the call's words have seen; may be repeated")
	f.StringVar(&c.Said, "said", "", "the user's own words, which may name what the call reaches for")
	f.StringVar(&c.Time, "at", "", "when it is decided, as in RFC 3339 (now)")
	args := f.StringArray("arg", nil, "an argument of the tool, as name=text; may be repeated")
	doc := f.String("arguments", "", "the arguments of the tool, as a JSON object")
	rules := f.StringArray("policy", nil, "a rule file beside those of the data folder; may be repeated")
	asJSON := f.Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, ids []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		e, _, err := loadPolicy(home, *rules)
		if err != nil {
			return err
		}
		var x explanation
		switch {
		case len(ids) == 1:
			if c.Tool != "" {
				return cli.Usagef("a call on record and --tool exclude each other")
			}
			err = x.fromRecord(cmd.Context(), ids[0])
		case c.Tool == "":
			return cli.Usagef("--tool: missing, or the id of a call on record")
		default:
			if c.Arguments, err = givenArguments(*args, *doc); err != nil {
				return err
			}
			var t *toolbox
			if t, err = newTools(home); err == nil {
				x.Input, err = t.input(c)
			}
		}
		if err != nil {
			return err
		}
		x.Decision, x.Input = cases.Decide(e, x.Input, nil)
		x.Rules = e.Explain(x.Input, nil)
		if *asJSON {
			return cli.JSON(cmd.OutOrStdout(), x)
		}
		return x.print(cmd.OutOrStdout())
	})
	cli.Group(cmd)
	return cmd
}

// givenArguments reads those of the flags.
func givenArguments(list []string, doc string) (map[string]any, error) {
	all := map[string]any{}
	if doc != "" {
		var err error
		if all, err = strictjson.Object([]byte(doc)); err != nil {
			return nil, cli.Usagef("--arguments: %w", err)
		}
	}
	for _, a := range list {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, cli.Usagef("--arg: %q is not name=text", a)
		}
		all[name] = value
	}
	return all, nil
}

var callID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// fromRecord takes the call from the audit log.
func (x *explanation) fromRecord(ctx context.Context, id string) error {
	if !callID.MatchString(id) {
		return cli.Usagef("%q is not the id of a call, such as call_019a8f6b0c5e7d2f8a1b3c4d5e6f7a8b", id)
	}
	return commands.WithReader(ctx, func(r *audit.Reader) error {
		_, rows, err := r.Query(ctx, audit.Filter{}, "select min(seq) from audit_events where call = '"+id+"' and policy_input is not null", audit.Limits{Time: time.Minute})
		if err != nil {
			return err
		}
		seq, ok := int64(0), false
		if len(rows) == 1 {
			seq, ok = rows[0][0].(int64)
		}
		if !ok {
			return fmt.Errorf("the log has no decision on a call %s that a policy was asked about: see service audit query \"select call from tool_calls\"", id)
		}
		events, err := r.Events(ctx, audit.Filter{After: seq - 1, Limit: 1})
		if err != nil {
			return err
		}
		if len(events) != 1 {
			return fmt.Errorf("the record of the call %s is gone", id)
		}
		d, ok := recorded.Decision(events[0])
		if !ok {
			return fmt.Errorf("the record of the call %s cannot be read", id)
		}
		x.Input, x.Was = d.Input, &d.Was
		for _, path := range d.Hidden {
			x.Hidden = append(x.Hidden, strings.Join(path, "."))
		}
		return nil
	})
}

func (x *explanation) print(out io.Writer) error {
	args, err := json.Marshal(x.Input.Arguments)
	if err != nil {
		return err
	}
	in, d := x.Input, x.Decision
	fmt.Fprintf(out, "Call:      %s calls %s %s (%s) for %s, role %s, at %s\n", in.Agent, in.Tool, args, in.Action, in.Principal.User, in.Principal.Role, in.Time.Format(time.RFC3339))
	if len(x.Hidden) > 0 {
		fmt.Fprintf(out, "           inexact: the record does not hold %s\n", strings.Join(x.Hidden, ", "))
	}
	if x.Was != nil {
		fmt.Fprintf(out, "On record: %s\n", outcomeOf(*x.Was))
	}
	fmt.Fprintf(out, "Decision:  %s\n", outcomeOf(policy.Verdict{Rule: d.Rule, Effect: d.Effect}))
	if text := strings.TrimSpace(d.Message + " " + d.Remedy()); text != "" {
		fmt.Fprintf(out, "           %s\n", text)
	}
	if d.Code == policy.CodePermission {
		fmt.Fprintf(out, "           %s\n", strings.Join(d.Reasons, ", "))
	}
	rows := make([][]string, len(x.Rules))
	for i, t := range x.Rules {
		rows[i] = []string{t.Rule, string(t.Effect), state(t), why(t)}
	}
	return cli.Table(out, []string{"rule", "effect", "", "why"}, rows)
}

func outcomeOf(v policy.Verdict) string {
	if v.Rule == "" {
		return string(v.Effect)
	}
	return string(v.Effect) + ", by " + v.Rule
}

func state(t policy.Trace) string {
	word := "not selected"
	switch {
	case t.Applies:
		word = "applies"
	case t.Selected:
		word = "does not apply"
	}
	if t.Mode == policy.Observe {
		word += " (observed)"
	}
	return word
}

func why(t policy.Trace) string {
	if t.Error != "" {
		return "cannot be evaluated: " + t.Error
	}
	if len(t.Because) == 0 {
		return t.Why
	}
	texts := make([]string, len(t.Because))
	for i, c := range t.Because {
		texts[i] = c.String()
	}
	return strings.Join(texts, "; ")
}
