package markdown

import "strings"

// Stream cuts Markdown that arrives in pieces into blocks.
type Stream struct {
	open strings.Builder // what no block has
	from int             // what is before it was looked at, and ends no block
	in   fence
	end  int // where the open block may end: before an empty line, if what follows is not indented; 0: nowhere
}

// fence is what a block of code began with, if one is open.
type fence struct {
	char byte
	n    int
}

// Append adds a piece and returns the blocks that are complete with it.
func (s *Stream) Append(piece string) []string {
	s.open.WriteString(piece)
	var blocks []string
	for {
		text := s.open.String()
		rest := text[s.from:]
		if rest != "" && s.in.n == 0 && s.end > 0 && !strings.ContainsRune(" \t\r\n", rune(rest[0])) {
			blocks = append(blocks, text[:s.end])
			s.cutAt(s.from)
			continue
		}
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			return blocks
		}
		line := rest[:n]
		switch {
		case strings.TrimSpace(line) != "":
			s.end, s.in = 0, s.in.after(line)
		case s.in.n == 0 && s.from > 0 && s.end == 0:
			s.end = s.from
		}
		s.from += n + 1
	}
}

// cutAt forgets what is before.
func (s *Stream) cutAt(at int) {
	rest := s.open.String()[at:]
	s.open.Reset()
	s.open.WriteString(rest)
	s.from, s.end = 0, 0
}

// Open is what belongs to no complete block yet.
func (s *Stream) Open() string { return s.open.String() }

// Close returns the last block and makes the stream empty.
func (s *Stream) Close() string {
	rest := s.open.String()
	*s = Stream{}
	return rest
}

// after is the fence after one more line.
func (f fence) after(line string) fence {
	text := strings.TrimLeft(line, " \t>")
	if text == "" {
		return f
	}
	n := len(text) - len(strings.TrimLeft(text, text[:1]))
	switch {
	case n < 3 || text[0] != '`' && text[0] != '~':
		return f
	case f.n == 0 && (text[0] == '~' || !strings.Contains(text[n:], "`")):
		return fence{text[0], n}
	case f.n > 0 && text[0] == f.char && n >= f.n && strings.TrimSpace(text[n:]) == "":
		return fence{}
	}
	return f
}
