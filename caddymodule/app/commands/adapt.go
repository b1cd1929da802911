package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

// BuiltIn is a configuration that is part of the program.
type BuiltIn struct {
	Name      string
	Caddyfile []byte
	Check     func() error // looks at what it takes from the environment
}

// builtIn is the configuration of a program that has one. It belongs to the process, as its name does.
var builtIn *BuiltIn

// UseBuiltIn gives the commands the configuration of a program that has one. The program's main calls
// it before a command runs. Without it they take the Caddyfile of the current folder, as Caddy does.
func UseBuiltIn(b BuiltIn) { builtIn = &b }

// Adapt turns a Caddyfile, or the default configuration when path is empty, into Caddy's JSON. What is in
// a file that ends in .json is that already. Warnings go to w.
func Adapt(path string, w io.Writer) ([]byte, error) {
	text, name, err := configuration(path)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(name) == ".json" {
		if !json.Valid(text) {
			return nil, fmt.Errorf("reading the configuration: %s is not valid JSON", path)
		}
		return text, nil
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return []byte("{}"), nil // what the adapter makes of it is no document
	}
	adapter := caddyconfig.GetAdapter("caddyfile")
	if adapter == nil {
		return nil, errors.New("this build has no Caddyfile adapter")
	}
	doc, warnings, err := adapter.Adapt(text, map[string]any{"filename": name})
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	for _, warning := range warnings {
		fmt.Fprintf(w, "Warning: %s\n", cli.Named(warning.String()))
	}
	return doc, nil
}

// configuration reads the file at path, or what stands for none.
func configuration(path string) (text []byte, name string, err error) {
	if path == "" && builtIn != nil {
		return builtIn.Caddyfile, builtIn.Name, nil
	}
	name = path
	if path == "" {
		name = "Caddyfile"
	}
	text, err = os.ReadFile(filepath.Clean(name))
	if path == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, name, nil // Caddy runs without one, too
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the configuration: %w", err)
	}
	return text, name, nil
}
