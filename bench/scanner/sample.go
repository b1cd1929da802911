package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sample is one labelled text.
type sample struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Label    int      `json:"label"` // 1: should be found
	Category string   `json:"category"`
	Source   string   `json:"source"`
	Secrets  []string `json:"secrets"` // what must not remain, where it is known
}

// seen reports whether the sample may be looked at when rules are written.
func (s sample) seen() bool { return sha256.Sum256([]byte(s.ID))[0]%2 == 0 }

// bare reports whether the text is a task and nothing else, which no text scanner can tell from
// an honest one.
func (s sample) bare() bool { return strings.HasPrefix(s.Category, "bare_task") }

// samples reads a file, the half that is asked for.
func (m *measure) samples(name string) ([]sample, error) {
	f, err := os.Open(filepath.Join(m.dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []sample
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if m.half == "" || s.seen() == (m.half == "seen") {
			list = append(list, s)
		}
	}
	return list, lines.Err()
}
