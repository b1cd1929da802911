package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxText is how much of a result is read; the gate cuts it further.
const maxText = 256 << 10

// textOf is a result as text, and whether something is missing in it. What is no text is named: a model is
// not shown pictures, nor what a link leads to.
func textOf(r *sdk.CallToolResult) (text string, cut bool) {
	var parts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[an image, %s, %d bytes, which is not shown]", short(c.MIMEType, 100), len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[a sound, %s, %d bytes, which is not played]", short(c.MIMEType, 100), len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, fmt.Sprintf("[a link to %s: %s]", short(c.URI, 1000), short(c.Name, 200)))
		case *sdk.EmbeddedResource:
			parts = append(parts, resource(c))
		default:
			parts = append(parts, "[content of a kind that this service does not know]")
		}
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		if doc, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(doc))
		}
	}
	text = strings.Join(parts, "\n")
	if len(text) <= maxText {
		return text, false
	}
	return text[:maxText], true
}

func resource(c *sdk.EmbeddedResource) string {
	switch r := c.Resource; {
	case r == nil:
		return "[a resource without content]"
	case r.Text != "":
		return fmt.Sprintf("[%s]\n%s", short(r.URI, 1000), r.Text)
	default:
		return fmt.Sprintf("[%s, %s, %d bytes, which are not shown]", short(r.URI, 1000), short(r.MIMEType, 100), len(r.Blob))
	}
}
