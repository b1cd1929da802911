package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// attempt is one way out of a sandbox. It returns nil when the way is closed, and else what it found.
type attempt struct {
	name string
	try  func(wire.Probe) error
}

// attempts are all ways that a probe tries. Those that could do harm are tried so that they change
// nothing where they succeed.
var attempts = []attempt{
	{"descriptors", tryDescriptors}, // first: others open some
	{"environment", tryEnvironment},
	{"session", trySession},
	{"limits", tryLimits},
	{"privileges", tryPrivileges},
	{"no_new_privileges", tryNoNewPrivileges},
	{"write_system", tryWriteSystem},
	{"mounts_read_only", tryMounts},
	{"secret", trySecret},
	{"attributes", tryAttributes},
	{"proc", tryProc},
	{"devices", tryDevices},
	{"special_files", trySpecialFiles},
	{"set_user_id", trySetUserID},
	{"tcp", tryTCP},
	{"udp", tryUDP},
	{"unix_socket", tryUnixSocket},
	{"other_sockets", tryOtherSockets},
	{"process_of_host", tryProcess},
	{"signal_first", trySignalFirst},
	{"ptrace", tryPtrace},
	{"new_namespaces", tryNewNamespaces},
	{"mount", tryMount},
	{"kernel", tryKernel},
	{"terminal", tryTerminal},
	{"namespace_user", tryNamespace("user")},
	{"namespace_pid", tryNamespace("pid")},
	{"namespace_mnt", tryNamespace("mnt")},
	{"namespace_ipc", tryNamespace("ipc")},
	{"namespace_uts", tryNamespace("uts")},
	{"namespace_cgroup", tryNamespace("cgroup")},
	{"namespace_net", tryNamespace("net")},
}

// probe runs inside a sandbox, as its command, and tries to get out. It prints what it found.
func probe(args []string) int {
	var p wire.Probe
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &p) != nil {
		fmt.Fprintln(os.Stderr, "svc-sandbox: a probe needs its plan")
		return 2
	}
	found := make([]wire.Finding, 0, len(attempts))
	for _, a := range attempts {
		f := wire.Finding{Attempt: a.name, Held: true}
		if err := a.try(p); err != nil {
			f.Held, f.Found = false, err.Error()
		}
		found = append(found, f)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		return 1
	}
	return 0
}
