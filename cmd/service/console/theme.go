package console

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/svc-gateway/svc/internal/markdown"
)

// theme is what the terminal can show.
type theme struct {
	markdown.Options
}

// newTheme looks at the environment: NO_COLOR, and a locale that is said to be none of UTF-8.
func newTheme(env []string) theme {
	locale := variable(env, "LC_ALL")
	for _, name := range []string{"LC_CTYPE", "LANG"} {
		if locale == "" {
			locale = variable(env, name)
		}
	}
	locale = strings.ToLower(strings.ReplaceAll(locale, "-", ""))
	return theme{markdown.Options{
		Width: 79, Color: variable(env, "NO_COLOR") == "", ASCII: locale != "" && !strings.Contains(locale, "utf8"),
	}}
}

func (t theme) paint(c ansi.Color, s string) string {
	if !t.Color || s == "" {
		return s
	}
	return ansi.NewStyle().ForegroundColor(c).Styled(s)
}

func (t theme) bold(s string) string { return ansi.NewStyle().Bold().Styled(s) }

func (t theme) faint(s string) string {
	if s == "" {
		return s
	}
	return ansi.NewStyle().Faint().Styled(s)
}

// sign is one of ours, or what stands for it in ASCII.
func (t theme) sign(nice, plain string) string {
	if t.ASCII {
		return plain
	}
	return nice
}

// fit is text of the service on one line that is not wider than n columns.
func (t theme) fit(s string, n int) string {
	return ansi.Truncate(t.safe(s), max(n, 1), t.sign("…", "~"))
}

// safe is text of the service on one line.
func (t theme) safe(s string) string {
	s = strings.NewReplacer("\n", " ", "\t", " ").Replace(markdown.Clean(s))
	if t.ASCII {
		s = strings.Map(func(r rune) rune {
			if r > 0x7e {
				return '?'
			}
			return r
		}, s)
	}
	return s
}

// spinner is its picture number n.
func (t theme) spinner(n int) string {
	frames := []rune(t.sign("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", `|/-\`))
	return t.paint(ansi.Cyan, string(frames[n%len(frames)]))
}
