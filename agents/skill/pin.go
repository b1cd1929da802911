package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/svc-gateway/svc/internal/guarded"
)

// Pin is what an admin has approved of a skill.
type Pin struct {
	Hash  string            `json:"sha256"` // of the skill
	Files map[string]string `json:"files"`  // digests by path, so that a change can be told
	By    string            `json:"approved_by"`
	At    time.Time         `json:"approved_at"`
}

// pins is the file with the pins of all skills.
type pins struct {
	Skills map[string]Pin `json:"skills"`
}

// maxPins bounds the file: 200 files of 100 skills have long paths.
const maxPins = 16 << 20

// readPins reads the pins. A file that is not there has none. One that others could have written approves
// nothing, so it is an error.
func readPins(path string) (pins, error) {
	p := pins{Skills: map[string]Pin{}}
	doc, err := guarded.Read(path, maxPins)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("reading which skills are approved: %s: %w", path, err)
	}
	if err := json.Unmarshal(doc, &p); err != nil {
		return pins{}, fmt.Errorf("reading which skills are approved: %s is damaged (%w): remove it, and approve the skills again", path, err)
	}
	if p.Skills == nil {
		p.Skills = map[string]Pin{}
	}
	return p, nil
}

// write stores the pins: a crash leaves the old ones or the new ones.
func (p pins) write(path string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = guarded.Write(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing which skills are approved: %w", err)
	}
	return nil
}

// Change is how a file differs from what was approved.
type Change struct {
	Path string `json:"path"`
	Was  string `json:"was"` // added, removed, changed
}

// changes are those from the digests of files that were approved to others, by path.
func changes(approved, now map[string]string) []Change {
	var all []Change
	for _, path := range slices.Sorted(maps.Keys(now)) {
		switch old, was := approved[path]; {
		case !was:
			all = append(all, Change{path, "added"})
		case old != now[path]:
			all = append(all, Change{path, "changed"})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(approved)) {
		if _, is := now[path]; !is {
			all = append(all, Change{path, "removed"})
		}
	}
	return all
}
