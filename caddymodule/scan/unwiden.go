package scan

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-gateway/svc/internal/media"
)

// unwiden decodes what begins like UTF-16 or UTF-32. It returns nil for what is neither, because there are
// controls in it that are in no text, and that readers of JSON refuse.
func unwiden(p []byte, start media.Start) []byte {
	order := binary.ByteOrder(binary.BigEndian)
	if start.Mark == 0 && p[0] != 0 || start.Mark > 0 && p[0] == 0xff {
		order = binary.LittleEndian
	}
	p = p[start.Mark:]
	var runes []rune
	if start.Charset == media.UTF32 {
		for ; len(p) >= 4; p = p[4:] {
			runes = append(runes, rune(order.Uint32(p)))
		}
	} else {
		units := make([]uint16, len(p)/2)
		for i := range units {
			units[i] = order.Uint16(p[2*i:])
		}
		runes = utf16.Decode(units)
	}
	var out []byte
	for _, r := range runes {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r > utf8.MaxRune {
			return nil
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
