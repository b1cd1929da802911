package scanner

import "github.com/svc-gateway/svc/scanner/internal/text"

// Excerpt returns what a finding shows of a text: at most 120 bytes, invisible characters written as U+XXXX.
func Excerpt(s string) string { return text.Excerpt(s) }
