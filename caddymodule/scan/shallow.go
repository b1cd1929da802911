package scan

import "bytes"

// What to do with a body, or a part of one, that neither its type nor its bytes let pass as text.
const (
	binaryShallow = "shallow"
	binaryScan    = "scan"
	binaryPass    = "pass"
)

const (
	// minRun is how long a run of printable characters is that may be a sentence, with at least
	// minSpaces spaces. Compressed data has next to none.
	minRun    = 24
	minSpaces = 2
	// maxZeros is how many zeros may stand between two characters of a run, as in UTF-32.
	maxZeros = 3
	// shallowly is how many bytes of such runs are scanned of a body.
	shallowly = 64 << 10
)

// scanBinary scans what is no text as the option binary says.
func (rep *report) scanBinary(p []byte) {
	switch rep.handler.Binary {
	case binaryPass:
	case binaryScan:
		rep.scanRaw(p, decodeEscapes)
	default:
		if text := runs(p, shallowly-rep.shallow); len(text) > 0 {
			rep.shallow += len(text)
			rep.scanText(decodeEscapes(string(text)))
		}
	}
}

// runs returns the sentences in p, each in a line, up to a limit.
func runs(p []byte, limit int) (text []byte) {
	for at := 0; at+minRun <= len(p) && len(text) < limit; {
		i := at + minRun - 1 // where a run that begins here has to go on: most bytes need no look
		for i >= at && runes[p[i]] != noRune {
			i--
		}
		if i >= at {
			at = i + 1
			continue
		}
		end := at + minRun
		for end < len(p) && runes[p[end]] != noRune {
			end++
		}
		text = appendRuns(text, p[at:end], limit)
		at = end
	}
	return text
}

// appendRuns appends the sentences in p, which has only printable characters and zeros.
func appendRuns(text, p []byte, limit int) []byte {
	for len(p) > 0 && len(text) < limit {
		end, zeros, spaces := 0, 0, 0
		for i := 0; i < len(p) && i-end <= maxZeros; i++ {
			switch runes[p[i]] {
			case zero:
				zeros++
				continue
			case space:
				spaces++
			}
			end = i + 1
		}
		run := p[:end]
		if p = bytes.TrimLeft(p[end:], "\x00"); end < minRun || spaces < minSpaces {
			continue
		}
		if zeros > 0 {
			run = bytes.ReplaceAll(run, []byte{0}, nil)
		}
		text = append(append(text, run[:min(len(run), limit-len(text))]...), '\n')
	}
	return text
}

// What a byte is to a run.
const (
	noRune byte = iota
	printable
	space
	zero
)

// runes are the bytes that may be in a run.
var runes = func() (is [256]byte) {
	for c := '!'; c < 0x7f; c++ {
		is[c] = printable
	}
	is[' '], is['\t'], is['\n'], is['\r'], is[0] = space, space, space, space, zero
	return is
}()
