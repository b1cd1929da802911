// Package provenance tells where the targets of a tool call come from: from the user's own words,
// from the text of a tool's result, or from neither.
//
//	said := provenance.NewWords("please copy docs/a.md to example.com")
//	said.Name(provenance.Path, "./docs/a.md")          // true
//	said.Name(provenance.Path, "docs/a.md.bak")        // false
//	said.Name(provenance.Host, "example.com.evil.org") // false
//
//	trail := provenance.Trail{Said: said, Read: texts}
//	targets = trail.Trace(targets) // each with its Source
//
// A text names a target if one of its words is the same identifier, once both have the form that
// their type asks for: paths are cleaned, hosts are lower case and in ASCII (IDNA), URLs are
// normalised as RFC 3986, section 6.2.2 has it. Part of a word is never a match. What has no valid form
// of its type, or holds a character without a look, is named by no text.
//
// The package does no I/O. It guarantees that [Trail.Trace] overwrites whatever source a target
// has: neither a tool nor a model can claim one. What it misses counts as not named. [Words] and
// [Trail] may be used by many goroutines.
package provenance
