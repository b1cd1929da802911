package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gowebpki/jcs"

	"github.com/svc-gateway/svc/internal/guarded"
)

// maxPins bounds the file of one server.
const maxPins = 2 * maxTools * (maxDescription + maxSchema)

// pins are the tools of a server as they were approved, by name, and which server that was.
type pins struct {
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Server Origin    `json:"server"`
	Tools  []Offer   `json:"tools"`
}

func (p pins) find(tool string) (Offer, bool) {
	for _, o := range p.Tools {
		if o.Name == tool {
			return o, true
		}
	}
	return Offer{}, false
}

// readPins reads what was approved of a server; nothing when there is no file. One that others can write
// is refused: who writes it approves tools.
func readPins(file string) (pins, error) {
	var p pins
	doc, err := guarded.Read(file, maxPins)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("reading the approved tools, %s: %w", file, err)
	}
	err = json.Unmarshal(doc, &p)
	if err != nil {
		return pins{}, fmt.Errorf("reading the approved tools, %s: %w: remove the file, and approve the tools again", file, err)
	}
	for i := range p.Tools { // the file has them in another form
		if p.Tools[i].Schema, err = jcs.Transform(p.Tools[i].Schema); err != nil {
			return pins{}, fmt.Errorf("reading the approved tools, %s: %w: remove the file, and approve the tools again", file, err)
		}
	}
	return p, nil
}

// write keeps the pins durably.
func (p pins) write(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("making the folder of the approved tools: %w", err)
	}
	doc, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = guarded.Write(file, doc)
	}
	if err != nil {
		return fmt.Errorf("writing the approved tools: %w", err)
	}
	return nil
}
