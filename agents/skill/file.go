package skill

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a skill may hold.
const (
	maxFiles = 200
	maxBytes = 2 << 20 // of all files
	maxPath  = 200     // bytes
	maxSteps = 8       // folders in folders
)

// File is a file of a skill.
type File struct {
	Path    string `json:"path"` // in the skill, with slashes
	Exec    bool   `json:"exec,omitempty"`
	Content []byte `json:"content"`
}

// digest is what of a file is pinned: its content, and whether it is executable.
func (f File) digest() string {
	sum := sha256.Sum256(f.Content)
	mark := "-"
	if f.Exec {
		mark = "x"
	}
	return mark + hex.EncodeToString(sum[:])
}

// digests are those of files by path.
func digests(files []File) map[string]string {
	all := make(map[string]string, len(files))
	for _, f := range files {
		all[f.Path] = f.digest()
	}
	return all
}

// Hash is that of a skill: SHA-256, in hex, of a line for each file, sorted by path.
func Hash(files []File) string {
	h := sha256.New()
	for _, f := range sorted(files) {
		fmt.Fprintf(h, "%s %s\n", f.digest(), f.Path) // a path has no line break
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sorted(files []File) []File {
	return slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
}

// collection gathers files and refuses what no skill has. The zero value is an empty one.
type collection struct {
	files    []File
	size     int
	mistakes []error
	folded   map[string]string // paths and folders by their lower case
}

func (c *collection) wrong(file, format string, args ...any) {
	c.mistakes = append(c.mistakes, &Mistake{File: file, Message: fmt.Sprintf(format, args...)})
}

// room is how many bytes more there may be.
func (c *collection) room() int { return maxBytes - c.size }

// full notes that there is too much.
func (c *collection) full(where string) error {
	return &Mistake{File: where, Message: fmt.Sprintf("it has more than %d KiB in all, or more than %d files: keep large data out of a skill", maxBytes>>10, maxFiles)}
}

// add takes a file. where is what it is called in messages. The error says that no more can be taken.
func (c *collection) add(where string, f File) error {
	if len(c.files) == maxFiles || len(f.Content) > c.room() {
		return c.full(path.Dir(where))
	}
	c.size += len(f.Content)
	if why := badPath(f.Path); why != "" {
		c.wrong(where, "%s", why)
		return nil
	}
	if other, taken := c.taken(f.Path); taken {
		c.wrong(where, "%s is there, too: on some systems both have one name; remove one", other)
		return nil
	}
	c.files = append(c.files, f)
	return nil
}

// taken reports whether another file has the path, or one that is the same where case does not count, or is
// a folder of it.
func (c *collection) taken(p string) (other string, taken bool) {
	if c.folded == nil {
		c.folded = map[string]string{}
	}
	lower := strings.ToLower(p)
	if other, taken = c.folded[lower]; taken {
		return other, true
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if other, taken := c.folded[strings.ToLower(dir)]; taken && other != dir+"/" {
			return other, true
		}
		c.folded[strings.ToLower(dir)] = dir + "/"
	}
	c.folded[lower] = p
	return "", false
}

func (c *collection) done() ([]File, error) { return sorted(c.files), errors.Join(c.mistakes...) }

// badPath says why a file of a skill cannot have a path; empty: it can.
func badPath(p string) string {
	switch {
	case p == "" || len(p) > maxPath:
		return fmt.Sprintf("its path is empty or longer than %d bytes: shorten it", maxPath)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }):
		return "its path has a character that no path in a skill has: rename it"
	case !filepath.IsLocal(p) || path.Clean(p) != p:
		return "its path leads out of the skill: files of a skill lie in its folder"
	case strings.Count(p, "/") > maxSteps:
		return fmt.Sprintf("it lies more than %d folders deep: move it up", maxSteps)
	}
	for part := range strings.SplitSeq(p, "/") {
		if strings.HasPrefix(part, ".") {
			return "its name begins with a dot: people overlook hidden files, so remove it, or rename it"
		}
	}
	return ""
}
