package policy_test

import (
	"fmt"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

func ExampleEngine_Decide() {
	engine, err := policy.New()
	if err != nil {
		panic(err)
	}
	d := engine.Decide(policy.Input{
		Principal: policy.Principal{User: "bob", Role: policy.User},
		Agent:     "core",
		Tool:      "run_command",
		Action:    policy.Mutate,
		Command:   &command.Command{Class: command.Mutate, Confined: true, Categories: []string{"write_outside_root"}},
	})
	fmt.Println(d.Effect, d.Rule)
	for _, reason := range d.Reasons {
		fmt.Println(reason)
	}
	// Output:
	// approve hitl-write-outside-root
	// rule hitl-write-outside-root: category write_outside_root
	// permission: role user may mutate
}
