package provenance

import "slices"

// Kind is the type of a target. It decides what makes two of them the same.
type Kind string

// The kinds of targets.
const (
	Path      Kind = "path"      // a file or folder, relative to the project root or absolute; case counts
	Host      Kind = "host"      // a name or address, with or without a port, which is not looked at
	URL       Kind = "url"       // absolute; the fragment is not looked at
	Recipient Kind = "recipient" // an e-mail address, or the name of an account
	Device    Kind = "device"    // the name of a device or interface; case does not count
	User      Kind = "user"      // the name of a user, with or without an @ before it; case counts
	ID        Kind = "id"        // a word; of UUIDs the case does not count
	Unknown   Kind = "unknown"   // it cannot be told before the call; nobody can name it
)

// Kinds returns the kinds that a tool can declare.
func Kinds() []Kind { return []Kind{Path, Host, URL, Recipient, Device, User, ID, Unknown} }

// Known reports whether k is one of [Kinds].
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Sources of a target that are not a tool's result or another untrusted text. The source of those
// is their label, such as tool:read_file.
const (
	SourceUser    = "user"    // its value stands in the user's own words
	SourceUnknown = "unknown" // it stands in no text that is known: the model made it
)

// Target is what a call reaches for, by one of its arguments.
type Target struct {
	Argument string `json:"argument"`
	Kind     Kind   `json:"kind"`
	Value    string `json:"value"`
	Source   string `json:"source,omitempty"`
	// Fragment is where an untrusted text names it, at most 160 bytes. Empty for other sources.
	Fragment string `json:"fragment,omitempty"`

	// Same are other names of the very same thing, such as the absolute path of a file in the project.
	Same []string `json:"-"`
}

// Trusted reports whether a label is that of the user's own words.
func Trusted(label string) bool { return label == SourceUser }

// Untrusted reports whether there is another source than the user among labels.
func Untrusted(labels []string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return !Trusted(l) })
}
