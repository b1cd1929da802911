package console

import (
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// newInput is where prompts are typed: Enter sends, Alt-Enter and Ctrl-J begin a line.
func newInput(t theme) textarea.Model {
	in := textarea.New()
	in.ShowLineNumbers = false
	in.CharLimit, in.MaxHeight, in.MaxContentHeight = maxPrompt, 8, maxPrompt
	in.DynamicHeight, in.MinHeight = true, 1
	in.SetPromptFunc(2, func(i textarea.PromptInfo) string {
		if i.LineNumber == 0 {
			return "> "
		}
		return "  "
	})
	plain := textarea.StyleState{}
	if t.Color {
		plain.Prompt = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	}
	plain.Selection = lipgloss.NewStyle().Reverse(true)
	in.SetStyles(textarea.Styles{Focused: plain, Blurred: plain, Cursor: textarea.CursorStyle{Shape: tea.CursorBar}})
	in.SetVirtualCursor(false)
	in.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "ctrl+j", "shift+enter"))
	in.KeyMap.Paste.SetEnabled(false) // it would run programs to read the clipboard
	in.KeyMap.CopySelection.SetEnabled(false)
	in.SetWidth(t.Width)
	in.SetHeight(1)
	return in
}

// past is what was sent, and where the person is in it.
type past struct {
	sent  []string
	at    int    // len(sent): at what is being typed
	draft string // what was being typed
}

func (h *past) add(text string) {
	if n := len(h.sent); n == 0 || h.sent[n-1] != text {
		h.sent = append(h.sent, text)
	}
	h.at, h.draft = len(h.sent), ""
}

// older is what was sent before; typed is what stands there now.
func (h *past) older(typed string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.sent) {
		h.draft = typed
	}
	h.at--
	return h.sent[h.at], true
}

// newer is what was sent after it, and at the end what was being typed.
func (h *past) newer() (string, bool) {
	if h.at >= len(h.sent) {
		return "", false
	}
	if h.at++; h.at == len(h.sent) {
		return h.draft, true
	}
	return h.sent[h.at], true
}

func (p *program) recall(text string, ok bool) {
	if ok {
		p.input.SetValue(text)
		p.input.MoveToEnd()
	}
}
