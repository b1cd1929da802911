// Command svc-sandbox runs commands in sandboxes, for the service.
//
// The service starts it as package wire describes and sends it requests. For each it starts itself
// again as the first process of new namespaces, which builds a root folder, gives up what it may do and
// starts the command. Nothing that a command starts outlives it, and nothing outlives the helper: its
// end, like that of the service, ends all sandboxes.
//
// It is a program of its own, and not a mode of the service, because a sandbox then starts in a few
// milliseconds, and because a small process can give up rights thread by thread. Requests run side by
// side and share nothing.
//
//	svc-sandbox            serve the socket on descriptor 3
//	svc-sandbox version    print the harness version
//	svc-sandbox sweep      remove control groups of helpers that have died
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// The arguments that the helper knows.
const (
	argInside  = "inside" // of the helper itself only
	argProbe   = "probe"
	argSweep   = "sweep"
	argVersion = "version"
)

// The first thread stays as it is: the kernel judges by it who may do what to this process.
func init() { runtime.LockOSThread() }

func main() {
	arg := ""
	if len(os.Args) > 1 {
		arg = os.Args[1]
	}
	switch arg {
	case "":
		os.Exit(serve())
	case argInside:
		os.Exit(inside())
	case argProbe:
		os.Exit(probe(os.Args[2:]))
	case argSweep:
		sweep()
	case argVersion:
		fmt.Println(wire.Version)
	default:
		fmt.Fprintf(os.Stderr, "svc-sandbox: %q is unknown: this program is started by the service, see service sandbox run\n", arg)
		os.Exit(2)
	}
}
