// Package corpus reads labelled texts, by which tests and figures hold the scanner.
//
// A file has a JSON object a line: id, text, label (1: should be found), category, source, and
// secrets where it is known what must not remain of the text. Read reads one; package corpustest
// gives them to tests.
//
// The texts are data. Nothing that one says is followed. The functions are safe for concurrent
// use and keep nothing.
package corpus

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Sample is one labelled text.
type Sample struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Label    int      `json:"label"` // 1: should be found
	Category string   `json:"category"`
	Source   string   `json:"source,omitempty"`
	Secrets  []string `json:"secrets,omitempty"` // what must not remain, where it is known
}

// Seen reports whether the sample may be looked at when rules are written; the other half tells
// how far the rules carry.
func (s Sample) Seen() bool { return sha256.Sum256([]byte(s.ID))[0]%2 == 0 }

// Redacted returns the text with a mark in the places of its secrets.
func (s Sample) Redacted(mark string) string {
	text := s.Text
	for _, secret := range s.Secrets {
		text = strings.ReplaceAll(text, secret, mark)
	}
	return text
}

// Read reads a file.
func Read(path string) ([]Sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []Sample
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s Sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("reading line %d of %s: %w", len(list)+1, path, err)
		}
		list = append(list, s)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return list, nil
}
