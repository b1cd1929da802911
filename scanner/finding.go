package scanner

// Confidence says how sure a finding is.
type Confidence string

// Low is given to a literal phrase, High to a rule that understands the phrase's context.
const (
	Low  Confidence = "low"
	High Confidence = "high"
)

// Category is the kind of threat of a finding.
type Category string

// The categories of what package inject finds in text.
const (
	RoleHijacking       Category = "role_hijacking"
	DataExfiltration    Category = "data_exfiltration"
	PrivilegeEscalation Category = "privilege_escalation"
	InvisibleCharacters Category = "invisible_characters"
	URLHomograph        Category = "url_homograph"
	PartlyScanned       Category = "partly_scanned" // no threat by itself: the text was made to cost more than a scan may
)

// The categories of what package command finds in programs.
const (
	HTTPWrite     Category = "http_write"     // a request that changes something: POST, PUT, PATCH, DELETE
	DatabaseWrite Category = "database_write" // a statement or call that changes a database
)

// The views of a text in which a finding can be made.
const (
	ViewText      = "text"      // as it came
	ViewFolded    = "folded"    // compatibility characters, lookalikes, accents and invisible characters made plain
	ViewUnescaped = "unescaped" // percent, HTML and backslash escapes decoded
	ViewBase64    = "base64"    // decoded
	ViewHex       = "hex"       // hex or binary digits decoded
	ViewRot13     = "rot13"     // each letter moved by 13
	ViewBackwards = "backwards" // read from the end
	ViewLeet      = "leet"      // digits and symbols read as letters
	ViewSpaced    = "spaced"    // letters that stand apart put together
	ViewJoined    = "joined"    // words found that are not set apart
	ViewMarkup    = "markup"    // text that HTML or Markdown hides from people
	ViewCode      = "code"      // a program as its language reads it
)

// Finding is one suspicious place of a text.
type Finding struct {
	Category   Category   `json:"category"`
	Rule       string     `json:"rule"`            // name of the rule, stable
	Confidence Confidence `json:"confidence"`      // low or high
	Start      int        `json:"start"`           // first byte in the original text
	End        int        `json:"end"`             // byte after the last one in the original text
	Excerpt    string     `json:"excerpt"`         // what was found, at most 120 bytes, invisible characters written as U+XXXX
	View       string     `json:"view"`            // where the rule matched, one of the View constants
	Score      float64    `json:"score,omitempty"` // of a rule that estimates: how likely it is right, above 0 and at most 1
}
