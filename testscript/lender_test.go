//go:build linux

package testscript

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/agents/sandbox/remote/remotetest"
)

// lenders are the servers that a script can start, by the provider's name.
var lenders = map[string]func(*remotetest.Fleet) *remotetest.Server{
	"daytona": remotetest.Daytona, "runloop": remotetest.Runloop, "modal": remotetest.Modal,
}

// lender is a provider of sandboxes.
func lender(c *call) error {
	const usage = "usage: lender start PROVIDER | break JSON | left | calls"
	switch {
	case len(c.args) == 2 && c.args[0] == "start" && lenders[c.args[1]] != nil && c.lent == nil:
		c.lent = remotetest.NewFleet()
		server := lenders[c.args[1]](c.lent)
		c.cleanup(server.Close)
		name := "SVC_SANDBOX_" + strings.ToUpper(c.args[1])
		c.ts.Setenv(name+"_URL", server.URL)
		if c.args[1] == "modal" {
			c.ts.Setenv(name+"_TOKEN_ID", remotetest.Token)
			name += "_TOKEN_SECRET"
		} else {
			name += "_KEY"
		}
		c.ts.Setenv(name, remotetest.Key)
		return nil
	case c.lent == nil:
		return errors.New(usage)
	case len(c.args) == 2 && c.args[0] == "break":
		var faults remotetest.Faults
		if err := json.Unmarshal([]byte(c.args[1]), &faults); err != nil {
			return fmt.Errorf("reading the faults: %w", err)
		}
		c.lent.Break(faults)
		return nil
	case len(c.args) == 1 && c.args[0] == "left":
		fmt.Fprintf(&c.out, "%d left of %d\n", len(c.lent.Left()), c.lent.Made())
		return nil
	case len(c.args) == 1 && c.args[0] == "calls":
		for _, line := range c.lent.Calls() {
			fmt.Fprintln(&c.out, line)
		}
		return nil
	}
	return errors.New(usage)
}
