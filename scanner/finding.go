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

// The categories of threats.
const (
	RoleHijacking       Category = "role_hijacking"
	DataExfiltration    Category = "data_exfiltration"
	PrivilegeEscalation Category = "privilege_escalation"
	InvisibleCharacters Category = "invisible_characters"
	URLHomograph        Category = "url_homograph"
)

// The views of a text in which a finding can be made.
const (
	// ViewText is the text as it came.
	ViewText = "text"
	// ViewFolded is the text in lower case, without invisible characters and with each run
	// of white space as one space.
	ViewFolded = "folded"
)

// Finding is one suspicious place of a text.
type Finding struct {
	Category   Category   `json:"category"`
	Rule       string     `json:"rule"`       // name of the rule, stable
	Confidence Confidence `json:"confidence"` // low or high
	Start      int        `json:"start"`      // first byte in the original text
	End        int        `json:"end"`        // byte after the last one in the original text
	Excerpt    string     `json:"excerpt"`    // what was found, at most 120 bytes, invisible characters written as U+XXXX
	View       string     `json:"view"`       // text or folded: where the rule matched
}
