package device

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/inventory"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner/command"
)

// ConfigTool returns the tool device_config {device, lines, diff}. Without diff it says what the lines would
// change and changes nothing. With the difference that it said, it makes this change: so people who are
// asked are shown the lines and the difference, and approve them and no others.
func ConfigTool(f *Fleet, from Inventory, timeout time.Duration) agents.Tool {
	c := configurer{f, from}
	return agents.NewTool(agents.ToolDef{
		Name: "device_config",
		Description: "Change the configuration of one network device of the inventory (ios, nxos, eos, junos). First call it with the device and the lines: it says what they would change, as a diff against the running configuration, and changes nothing. " +
			"Then call it with the same device and lines, and that diff word for word: after a person has approved, it makes the change, reads the configuration again, compares, and takes the change back if it came out otherwise. " +
			"Lines are those of the configuration mode: on ios, nxos and eos with the lines of a section indented below it and no before what is to go, on junos each with set or delete.",
		Parameters: []byte(`{"type":"object","properties":{"device":{"type":"string","minLength":1,"maxLength":64,"description":"Name of the device"},` +
			`"lines":{"type":"string","minLength":1,"maxLength":20000,"description":"Lines of configuration, for example: interface GigabitEthernet1\n description uplink"},` +
			`"diff":{"type":"string","minLength":1,"maxLength":60000,"description":"The diff that the first call said, word for word: make this change"}},"required":["device","lines"],"additionalProperties":false}`),
		Targets:  map[string]provenance.Kind{"device": provenance.Device},
		Classify: c.classify,
		Timeout:  timeout,
	}, c.run)
}

type configurer struct {
	fleet *Fleet
	from  Inventory
}

// classify lets everybody look, and has people asked before a change.
func (c configurer) classify(args map[string]any) agents.Classification {
	name, _ := args["device"].(string)
	lines, _ := args["lines"].(string)
	diff, applies := args["diff"].(string)
	class := agents.Classification{Action: policy.Use}
	ctx, cancel := context.WithTimeout(context.Background(), lookUp)
	defer cancel()
	list, err := c.from.Load(ctx)
	if err == nil {
		d, missing := list.Device(name)
		if err = missing; err == nil {
			class.Where = where(inventory.List{d})
			err = configurable(d.Platform, lines)
		}
	}
	if err != nil {
		class.Refused = "device_not_changed: " + err.Error()
		return class
	}
	if !applies {
		return class
	}
	if !legible(diff) {
		class.Refused = "device_not_changed: the diff has characters that are not printed"
		return class
	}
	judged := command.AnalyzeDevice(lines)
	if judged.Class == command.ReadOnly {
		judged.Class = command.Mutate
	}
	class.Action, class.Command, class.Categories = policy.Mutate, &judged, []string{Category}
	return class
}

// configurable refuses lines that cannot be those of a configuration of a platform.
func configurable(name, lines string) error {
	p, ok := platforms[name]
	if !ok {
		return fmt.Errorf("the configuration of the platform %q cannot be changed", name)
	}
	return checkLines(lines, p)
}

// legible reports whether a diff is read as it is. What a device calls things may be in any script.
func legible(diff string) bool {
	return !strings.ContainsFunc(diff, func(r rune) bool { return r != '\n' && r != '\t' && !command.Visible(r) })
}

func (c configurer) run(ctx context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
	name, _ := args["device"].(string)
	lines, _ := args["lines"].(string)
	diff, applies := args["diff"].(string)
	list, err := c.from.Load(ctx)
	if err != nil {
		return agents.Result{}, err
	}
	d, err := list.Device(name)
	if err != nil {
		return agents.Result{}, err
	}
	if applies {
		if !tc.Approved {
			return agents.Result{}, errors.New("a change is made when a person has approved it, and nobody has")
		}
		if tc.Where != where(inventory.List{d}) {
			return agents.Result{}, errMoved
		}
		done, err := c.fleet.Apply(ctx, d, lines, diff)
		if err != nil {
			return agents.Result{}, fmt.Errorf("%s: %w", d.Name, err)
		}
		text := "changed " + describe(d) + ". The configuration was read again and is as it was to be; what is other now:\n" + done.Diff
		if !done.Saved {
			text += "\nthe device has not said that it is saved: unless it is, it is gone after a restart\n"
		}
		return agents.Result{Text: text}, nil
	}
	plan, err := c.fleet.Plan(ctx, d, lines)
	if errors.Is(err, ErrNothing) {
		return agents.Result{Text: "nothing to do: the running configuration of " + d.Name + " has these lines\n"}, nil
	}
	if err != nil {
		return agents.Result{}, fmt.Errorf("%s: %w", d.Name, err)
	}
	text := "nothing is changed yet. These lines would change " + describe(d) + " so"
	if plan.Predicted {
		text += " (told from the running configuration: the platform has no candidate; the lines are taken back by their inverse if it comes out otherwise)"
	} else {
		text += " (as the device says)"
	}
	return agents.Result{Text: text + ":\n" + DiffMark + "\n" + plan.Diff + DiffMark + "\n"}, nil
}

// DiffMark stands in lines before and after a diff in a result.
const DiffMark = "---"
