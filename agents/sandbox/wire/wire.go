// Package wire is what the service and its helper svc-sandbox say to each other.
//
// The service starts the helper with a socket of the kind SOCK_SEQPACKET as descriptor [FDSocket]. For
// each run it sends one byte with [Descriptors] descriptors: a pipe for the [Request], one for the
// answer, and the command's standard input, output and error. The service keeps its end of the first
// open: when it closes, the helper ends the sandbox. When the socket closes, it ends all.
//
// The answer is made of frames: a [Report] of what ran, the content of each file that the report names,
// and last a [Summary].
//
// The package holds types and constants, and functions without state; it imports nothing of ours,
// because the helper starts within a millisecond.
package wire

// Version is the harness version that the helper speaks; the service checks it with package compat.
// It is the same as compat.Version, which a test holds.
const Version = "0.4.12"

// FDSocket is the socket in the helper.
const FDSocket = 3

// Descriptors is how many a run has.
const Descriptors = 5

// Mode says what a sandbox is made of.
type Mode string

// The modes, the strongest first.
const (
	// Full has namespaces of every kind.
	Full Mode = "full"
	// Rooted has them all but the user namespace; root on a host without those has it.
	Rooted Mode = "rooted"
	// Minimal has no namespaces: Landlock, seccomp and limits only.
	Minimal Mode = "minimal"
)

// Network says what of the network a command reaches.
type Network string

// The networks, the strictest first.
const (
	NoNetwork Network = "none"
	Proxy     Network = "proxy"
	Host      Network = "host"
)

// Places in a sandbox that has namespaces.
const (
	Workspace = "/workspace"
	// ProxyPort is where the forwarder to the proxy listens on 127.0.0.1.
	ProxyPort = 3128
)

// Request is what the service asks for.
type Request struct {
	Mode    Mode     `json:"mode"`
	Args    []string `json:"args"`
	Env     []string `json:"env"`           // NAME=value
	Dir     string   `json:"dir,omitempty"` // where the command starts; the workspace when empty
	System  []string `json:"system"`        // paths of the host that are visible as they are, read-only
	Binds   []Bind   `json:"binds,omitempty"`
	Hidden  []string `json:"hidden,omitempty"` // paths of the host that no bind shows, links resolved
	Network Network  `json:"network"`
	// ProxySocket is the unix socket of the proxy, for [Proxy].
	ProxySocket string `json:"proxy_socket,omitempty"`
	// Workspace is the folder on the host that is the workspace in [Minimal]; the others make one in
	// memory.
	Workspace string `json:"workspace,omitempty"`
	Files     []File `json:"files,omitempty"` // put into the workspace before the command starts
	Collect   bool   `json:"collect"`         // send the workspace's files back
	TimeoutMS int64  `json:"timeout_ms"`
	Limits    Limits `json:"limits"`
	// UID and GID are the numbers on the host that the command gets when the helper runs as root.
	UID int `json:"uid"`
	GID int `json:"gid"`
}

// Bind shows a file or folder of the host in the sandbox.
type Bind struct {
	Source   string `json:"source"` // absolute, links resolved
	Target   string `json:"target"` // absolute
	Writable bool   `json:"writable,omitempty"`
}

// Limits bound what a command takes. All are above zero.
type Limits struct {
	Memory    int64 `json:"memory"`     // bytes, all processes together where control groups allow it
	Processes int   `json:"processes"`  // processes and threads
	OpenFiles int   `json:"open_files"` // descriptors of one process
	Workspace int64 `json:"workspace"`  // bytes of all files in the workspace and /tmp
	Files     int   `json:"files"`      // files in the workspace and /tmp
}

// File is a file of the workspace. Content is empty in a [Report]: it follows in a frame.
type File struct {
	Path    string `json:"path"` // relative, with slashes
	Size    int64  `json:"size"`
	Exec    bool   `json:"exec,omitempty"`
	Content []byte `json:"content,omitempty"`
}

// Report is how a command went.
type Report struct {
	Exit     int      `json:"exit"`             // -1 when a signal ended it
	Signal   string   `json:"signal,omitempty"` // SIGKILL
	TimedOut bool     `json:"timed_out,omitempty"`
	Files    []File   `json:"files,omitempty"`
	Left     []string `json:"left,omitempty"` // what of the workspace was not collected, and why
	Degraded []string `json:"degraded,omitempty"`
	// Error says why the command did not start.
	Error *Fault `json:"error,omitempty"`
}

// Summary is the last thing that the helper says.
type Summary struct {
	Version  string   `json:"version"`
	OOM      bool     `json:"oom,omitempty"`
	TimedOut bool     `json:"timed_out,omitempty"` // the helper ended the sandbox itself
	Degraded []string `json:"degraded,omitempty"`
	Error    *Fault   `json:"error,omitempty"`
}

// Fault is an error with the part it concerns.
type Fault struct {
	// Part is "command" when the program cannot be started, "request" when it cannot be met as it is
	// written, and "sandbox" when the host does not allow the sandbox.
	Part string `json:"part"`
	Text string `json:"text"`
}

// The parts of a [Fault].
const (
	PartCommand = "command"
	PartRequest = "request"
	PartSandbox = "sandbox"
)

func (f *Fault) Error() string { return f.Text }

// What can be missing in a sandbox, as it stands in the degraded list of its result.
const (
	NoNamespaces    = "no_namespaces"     // the host's files, processes and network are kept away by Landlock and seccomp only
	NoUserNamespace = "no_user_namespace" // limits of processes count those of all sandboxes
	NoLandlock      = "no_landlock"       // files are kept away by the mount namespace only
	NoLandlockNet   = "no_landlock_net"   // TCP within the sandbox is not restricted
	NoLandlockScope = "no_landlock_scope" // signals are kept away by namespaces only; without those they are refused altogether
	NoMemoryGroup   = "no_memory_group"   // memory is limited for each process, not for all together
	NoProcessGroup  = "no_process_group"  // processes are limited by RLIMIT_NPROC only
	NoSizeCap       = "no_size_cap"       // the size of the workspace is watched, not enforced by the kernel
	NoProc          = "no_proc"           // there is no /proc
	RootUser        = "root_user"         // the command has the user ID 0 of the host, without capabilities
	HostNetwork     = "host_network"      // sandbox.network is host
	NoProxy         = "no_proxy"          // there is no network, because a namespace for the proxy is missing
)
