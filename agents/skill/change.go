package skill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Errors of changes that can be made another way.
var (
	ErrExists   = errors.New("there is a skill with this name already: replace it with --replace")
	ErrUnknown  = errors.New("there is no such skill")
	ErrNotAsked = errors.New("it is not what was looked at any more: look at it again, and approve that")
)

// Add makes a folder of the files of a skill and approves it, in the name of a user. One of that name is
// replaced only with replace. The error joins all mistakes; then nothing has changed.
func (s Store) Add(files []File, replace bool, by string, at time.Time) (Entry, error) {
	var c collection // they may come from a client
	for _, f := range files {
		if err := c.add(f.Path, f); err != nil {
			return Entry{}, err
		}
	}
	files, err := c.done()
	if err != nil {
		return Entry{}, err
	}
	sk, err := Parse("", files, s.Known)
	if err != nil {
		return Entry{}, err
	}
	_, names, err := s.all()
	if err != nil {
		return Entry{}, err
	}
	if there := slices.Contains(names, sk.Name); there && !replace {
		return Entry{}, fmt.Errorf("%s: %w", sk.Name, ErrExists)
	} else if !there && len(names) >= maxSkills {
		return Entry{}, fmt.Errorf("there are %d skills already, of %d at most: remove one", len(names), maxSkills)
	}
	if err := write(filepath.Join(s.Dir, sk.Name), files); err != nil {
		return Entry{}, fmt.Errorf("writing the skill: %w", err)
	}
	return s.pin(sk.Name, sk.Hash, by, at)
}

// Approve makes what is in the folder of a skill now the one that is used, in the name of a user. hash is that
// of what was looked at.
func (s Store) Approve(name, hash, by string, at time.Time) (Entry, error) {
	e, _, err := s.find(name)
	switch {
	case err != nil:
		return e, err
	case e.State == Missing:
		return e, fmt.Errorf("%s: %w", name, ErrUnknown)
	case e.State == Refused:
		return e, e.Err
	case e.Skill.Hash != hash:
		return e, fmt.Errorf("%s: %w", name, ErrNotAsked)
	}
	return s.pin(name, hash, by, at)
}

// pin approves a skill, if its hash is still that one.
func (s Store) pin(name, hash, by string, at time.Time) (Entry, error) {
	pinned, err := readPins(s.Pins)
	if err != nil {
		return Entry{}, err
	}
	before := pinned.Skills[name]
	e := s.entry(name, pinned.Skills)
	switch {
	case e.State == Refused:
		return e, e.Err
	case e.Skill.Hash != hash:
		return e, fmt.Errorf("%s: %w", name, ErrNotAsked)
	}
	e.Pin = Pin{Hash: hash, Files: digests(e.Skill.Files), By: by, At: at.UTC().Truncate(time.Second)}
	pinned.Skills[name] = e.Pin
	if err := pinned.write(s.Pins); err != nil {
		return e, err
	}
	e.State, e.Changes = Active, nil
	if before.Hash != "" {
		e.Changes = changes(before.Files, e.Pin.Files)
	}
	return e, nil
}

// Remove removes a skill, with its files and its approval.
func (s Store) Remove(name string) (Entry, error) {
	e, pinned, err := s.find(name)
	if err != nil {
		return e, err
	}
	delete(pinned.Skills, name)
	if err := pinned.write(s.Pins); err != nil { // first: without it nothing is used
		return e, err
	}
	if err := os.RemoveAll(filepath.Join(s.Dir, name)); err != nil {
		return e, fmt.Errorf("removing the files: %w", err)
	}
	return e, nil
}
