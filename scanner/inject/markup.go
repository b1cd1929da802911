package inject

import (
	"regexp"
	"strings"

	"github.com/svc-gateway/svc/scanner"
)

// Places of a document that a reader does not see and a model does.
var (
	htmlComment     = regexp.MustCompile(`(?s)<!\s?--(.*?)(?:-->|$)`)
	hiddenTag       = regexp.MustCompile(`(?is)<([a-z][a-z0-9]*)\b[^>]*?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*[;"']|opacity\s*:\s*0\s*[;"']|color\s*:\s*(?:white|#fff(?:fff)?|transparent)\b|\bhidden\b|left\s*:\s*-\d{3,}|aria-hidden\s*=\s*["']?true)[^>]*>`)
	hiddenAttribute = regexp.MustCompile(`(?is)<[a-z][^>]*?\s(?:alt|title|aria-label|content|placeholder|value|summary|data-[a-z-]+)\s*=\s*(?:"([^"]{8,})"|'([^']{8,})')`)
	linkComment     = regexp.MustCompile(`(?m)^\s{0,3}\[[^\]\n]{1,40}\]:\s*(?:#|<>|<#>|/+)\s*["'(](.{8,})["')]\s*$`)
	pictureText     = regexp.MustCompile(`!\[([^\]]{20,})\]\(`)
)

// maxHidden is how much of a hidden element that has no end is looked at.
const maxHidden = 4096

// hiddenText makes views of what markup hides.
func (s *scan) hiddenText(v *view) {
	if v.hidden {
		return
	}
	for _, place := range [...]struct {
		mark string
		at   *regexp.Regexp
	}{
		{"<!", htmlComment}, {"<", hiddenAttribute}, {"]:", linkComment}, {"![", pictureText},
	} {
		if !strings.Contains(v.text, place.mark) {
			continue
		}
		for _, m := range place.at.FindAllStringSubmatchIndex(v.text, maxFindings) {
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					s.pushHidden(v, m[g], m[g+1])
				}
			}
		}
	}
	if !strings.Contains(v.text, "<") {
		return
	}
	for _, m := range hiddenTag.FindAllStringSubmatchIndex(v.text, maxFindings) {
		end := min(m[1]+maxHidden, len(v.text))
		if i := strings.Index(strings.ToLower(v.text[m[1]:end]), "</"+strings.ToLower(v.text[m[2]:m[3]])); i >= 0 {
			end = m[1] + i
		}
		s.pushHidden(v, m[1], end)
	}
}

// pushHidden queues the bytes from start to end as hidden text.
func (s *scan) pushHidden(v *view, start, end int) {
	if start >= end {
		return
	}
	d := newDraft(v, end-start)
	for i := start; i < end; i++ {
		d.write(i, v.text[i])
	}
	h := d.view(scanner.ViewMarkup, end, marked)
	h.hidden = true
	s.push(h)
}
