package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/guarded"
)

// maxSkills bounds the folder.
const maxSkills = 100

// State says whether a skill is used.
type State string

// The states of skills. Only an active one is used.
const (
	Active  State = "active"  // approved, and as it was then
	New     State = "new"     // never approved
	Changed State = "changed" // its files are not those that were approved
	Refused State = "refused" // it has mistakes
	Missing State = "missing" // approved, and not there
)

// Entry is a skill of the data folder, whether it can be used or not.
type Entry struct {
	Name    string
	State   State
	Skill   Skill    // as it is now, as far as it can be read
	Pin     Pin      // as it was approved, if it was
	Changes []Change // from that to this
	Err     error    // the mistakes of a refused one
}

// Set are the skills of a data folder, by name.
type Set struct{ All []Entry }

// Active are those that are used.
func (s Set) Active() []Skill {
	var all []Skill
	for _, e := range s.All {
		if e.State == Active {
			all = append(all, e.Skill)
		}
	}
	return all
}

// Get is the entry with a name.
func (s Set) Get(name string) (Entry, bool) {
	i := slices.IndexFunc(s.All, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return s.All[i], true
}

// Store is the folder of skills and the file with what is approved.
type Store struct {
	Dir   string // one folder for each skill
	Pins  string
	Known Known
}

// Read returns all skills. One that cannot be used is no error; a folder that cannot be read is. Pins that cannot
// be read approve nothing, and refuse each skill.
func (s Store) Read() (Set, error) {
	pinned, unread := readPins(s.Pins)
	names, err := s.names(pinned)
	if err != nil {
		return Set{}, err
	}
	var set Set
	for _, name := range names {
		e := s.entry(name, pinned.Skills)
		if unread != nil {
			e.State, e.Err = Refused, unread
		}
		set.All = append(set.All, e)
	}
	return set, nil
}

// Names are those of all skills, also of those that are not used: an agent may name one that waits for its
// approval.
func (s Store) Names() ([]string, error) {
	pinned, _ := readPins(s.Pins) // an error is for Read to tell
	return s.names(pinned)
}

// find reads one skill, and what is approved of all. The error is ErrUnknown when there is none of that name.
func (s Store) find(name string) (Entry, pins, error) {
	pinned, names, err := s.all()
	if err == nil && !slices.Contains(names, name) {
		err = fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	if err != nil {
		return Entry{}, pinned, err
	}
	return s.entry(name, pinned.Skills), pinned, nil
}

// all says which skills are approved, and which are there or should be, sorted.
func (s Store) all() (pins, []string, error) {
	pinned, err := readPins(s.Pins)
	if err != nil {
		return pinned, nil, err
	}
	names, err := s.names(pinned)
	return pinned, names, err
}

// names are those of the folders, and of what is approved, sorted.
func (s Store) names(pinned pins) ([]string, error) {
	names, err := s.folders()
	for name := range pinned.Skills {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// entry reads one skill.
func (s Store) entry(name string, pinned map[string]Pin) Entry {
	pin, approved := pinned[name]
	e := Entry{Name: name, Pin: pin}
	files, err := s.files(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.State, e.Changes = Missing, changes(pin.Files, nil)
		return e
	case err != nil:
		e.State, e.Err = Refused, err
		return e
	}
	e.Skill, err = s.parse(name, files)
	if approved {
		e.Changes = changes(pin.Files, digests(files))
	}
	switch {
	case err != nil:
		e.State, e.Err = Refused, err
	case !approved:
		e.State = New
	case pin.Hash != e.Skill.Hash:
		e.State = Changed
	default:
		e.State = Active
	}
	return e
}

// parse reads the files of the folder with a name.
func (s Store) parse(name string, files []File) (Skill, error) {
	at := filepath.Join(s.Dir, name)
	sk, err := Parse(at, files, s.Known)
	if sk.Name != "" && sk.Name != name {
		err = errors.Join(err, &Mistake{File: filepath.Join(at, FileName), Field: "name", Message: fmt.Sprintf("it is %s, and the folder is %s: give both the same name", sk.Name, name)})
	}
	return sk, err
}

// files reads the folder of a skill, in which nobody else may have written.
func (s Store) files(name string) ([]File, error) {
	var above unix.Stat_t
	if err := unix.Stat(s.Dir, &above); err != nil {
		return nil, fmt.Errorf("looking at %s: %w", s.Dir, err)
	}
	var c collection
	user := guarded.User(&above)
	c.access(s.Dir, &above, user)
	files, err := readFolder(filepath.Join(s.Dir, name), user)
	return files, errors.Join(errors.Join(c.mistakes...), err)
}

// folders are the names of the folders with skills.
func (s Store) folders() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the skills: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && (e.IsDir() || e.Type()&fs.ModeSymlink != 0) {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxSkills {
		return nil, fmt.Errorf("reading the skills: there are %d in %s, of %d at most", len(names), s.Dir, maxSkills)
	}
	return names, nil
}
