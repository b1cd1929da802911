package settings

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Where a program that is an MCP server runs, for mcp_servers[].place.
const (
	PlaceSandbox = "sandbox"
	PlaceHost    = "host"
)

// NoAgent is the [MCP.Agent] of a service that offers no tools.
const NoAgent = "none"

// MCP says what clients of the Model Context Protocol have of this service.
type MCP struct {
	// Agent is the one whose tools they have, or none. Default: core.
	Agent string
}

// MCPServer is a server of the Model Context Protocol whose tools agents use: a program, or an address.
type MCPServer struct {
	// Name is what the server is called: 1 to 32 lowercase letters, digits and -. Its tools are called
	// mcp_<name>_<tool>.
	Name string
	// Command is the program with its arguments. Without one, the server is at URL.
	Command []string
	// Place is where the program runs: sandbox or host. Default: sandbox.
	Place string
	// Environment are the names of variables of the service that the program gets.
	Environment []string
	// Read and Write are folders and files of the host that the program sees in the sandbox.
	Read, Write []string
	// Network is what the program reaches in the sandbox: none or proxy. Default: none.
	Network string
	// URL is the address of a server that speaks streamable HTTP.
	URL string
	// Key is where the key is that the server is sent; empty for none.
	Key Reference
	// KeyHeader is the header with the key. Default: Authorization, with Bearer before the key.
	KeyHeader string
	// CAFile holds the certificates that the server's is checked with, as PEM. Default: the system's.
	CAFile string
	// Agents get all tools of the server. Others name them in their AGENT.md.
	Agents []string
	// Use are tools, by the server's names, that only read: their calls need the action use.
	Use []string
	// Mutate are tools whose calls need the action mutate. Calls of tools in neither list ask for approval.
	Mutate []string
	// Timeout is how long a call may take. Default: 60s.
	Timeout time.Duration
}

// MCPServers returns the servers whose tools agents use.
func (s Settings) MCPServers() []MCPServer { return mcpServers.of(s) }

var mcpServers = register(&objects[MCPServer]{
	key: "mcp_servers", block: "mcp_server", one: "an MCP server",
	doc:  "servers of the Model Context Protocol whose tools agents use. See [mcp.md](mcp.md#servers)",
	name: func(m *MCPServer) *string { return &m.Name },
	fields: []field[MCPServer]{
		items("command", "", "the program and its arguments, for a server that speaks over standard input and output",
			func(m *MCPServer) *[]string { return &m.Command }, nil),
		text("place", PlaceSandbox, "where the program runs: `sandbox`, or `host`, beside it, with all rights of the service's user",
			func(m *MCPServer) *string { return &m.Place }, checkPlace),
		list("environment", "", "names of variables of the service that the program gets. It gets no others but a fixed `PATH`, `HOME`, `TMPDIR` and `LC_ALL`. Their values are redacted wherever they turn up",
			func(m *MCPServer) *[]string { return &m.Environment }, checkEnvNames),
		items("read", "", "files and folders of the host that the program sees in the sandbox, read-only",
			func(m *MCPServer) *[]string { return &m.Read }, checkAbsolute),
		items("write", "", "files and folders of the host that the program sees in the sandbox and may change",
			func(m *MCPServer) *[]string { return &m.Write }, checkAbsolute),
		text("network", "none", "what the program reaches in the sandbox: `none`, or `proxy`, public addresses over the proxy of [the sandbox](sandbox.md#network)",
			func(m *MCPServer) *string { return &m.Network }, checkReachOfProgram),
		text("url", "", "the address of a server that speaks streamable HTTP, instead of `command`",
			func(m *MCPServer) *string { return &m.URL }, checkMCPURL),
		secret("key", "where the key is that the server is sent, in every request and to no other host",
			func(m *MCPServer) *Reference { return &m.Key }),
		text("key_header", "Authorization", "the header with the key. In `Authorization`, `Bearer` stands before it",
			func(m *MCPServer) *string { return &m.KeyHeader }, checkHeaderName),
		text("ca_file", "", "PEM file with the authorities of the server's certificate; the system's without it",
			func(m *MCPServer) *string { return &m.CAFile }, checkFile),
		list("agents", "", "agents that get all tools of the server. Others get those that their `AGENT.md` names",
			func(m *MCPServer) *[]string { return &m.Agents }, noneTwice),
		list("use", "", "tools that only read, by the server's own names: everybody who may use the agent may have them called",
			func(m *MCPServer) *[]string { return &m.Use }, noneTwice),
		list("mutate", "", "tools that change something, and are called without asking. Every call of a tool that is in neither list asks for approval",
			func(m *MCPServer) *[]string { return &m.Mutate }, noneTwice),
		duration("timeout", "60s", time.Second, time.Hour, "how long a call may take",
			func(m *MCPServer) *time.Duration { return &m.Timeout }),
	},
	complete: (*MCPServer).complete,
	used:     func(Settings) bool { return true },
})

// complete looks at what concerns more than one field.
func (m *MCPServer) complete() error {
	switch program := len(m.Command) > 0; {
	case program && m.URL != "":
		return errors.New("command and url: a server is a program or at an address: remove one of them")
	case !program && m.URL == "":
		return errors.New("command is missing: write the program and its arguments, or with url the address of the server")
	case !program && (m.Place != PlaceSandbox || m.Network != "none" || len(m.Environment)+len(m.Read)+len(m.Write) > 0):
		return errors.New("place, environment, read, write and network are for programs: remove them, or write command instead of url")
	case program && (m.Key != "" || m.CAFile != ""):
		return errors.New("key and ca_file are for servers with url: give a program its key with environment")
	case program && m.Place == PlaceHost && (m.Network != "none" || len(m.Read)+len(m.Write) > 0):
		return errors.New("place: read, write and network have no effect on the host: remove them, or write place sandbox")
	}
	for _, t := range m.Use {
		if slices.Contains(m.Mutate, t) {
			return fmt.Errorf("use: %q is in mutate, too: remove it from one of them", t)
		}
	}
	return nil
}

func checkPlace(v string) error { return oneOf(v, "place", PlaceSandbox, PlaceHost) }

func checkReachOfProgram(v string) error {
	return oneOf(v, "network of a program", "none", SandboxProxy)
}

func checkAbsolute(paths []string) error {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("%q is not an absolute path", p)
		}
	}
	return noneTwice(paths)
}

// loopback are hosts to which a key may be sent in the clear.
var loopback = regexp.MustCompile(`^(localhost|127\.[0-9.]+|::1)$`)

// checkMCPURL refuses what is no address, and one on another host without TLS: whoever is on the way would
// say what the tools are.
func checkMCPURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("this is not an http or https address such as https://mcp.example.com/mcp")
	case u.User != nil || u.Fragment != "" || u.RawQuery != "" || u.ForceQuery:
		return errors.New("an address must not carry a user, a password, a query or a fragment: say with key where the key is")
	case u.Scheme == "http" && !loopback.MatchString(u.Hostname()):
		return errors.New("a server on another host needs https: whoever is on the way could change what its tools are")
	}
	return nil
}

func checkHeaderName(name string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("%q is not the name of a header", name)
	}
	return nil
}
