package oidc

import "strings"

// MCPPath is the path that tokens can be made for alone (RFC 8707): where MCP clients are served.
const MCPPath = "/mcp"

// Resource is the identifier of what is served at a path of an address, scheme://host[:port], spelt as
// clients spell it: in small letters and without the port that goes without saying. An empty address has none.
func Resource(address, path string) string {
	scheme, host, ok := strings.Cut(strings.ToLower(address), "://")
	if !ok {
		return ""
	}
	if port, usual := map[string]string{"http": ":80", "https": ":443"}[scheme]; usual {
		host = strings.TrimSuffix(host, port)
	}
	return scheme + "://" + host + path
}
