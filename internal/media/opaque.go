package media

import "bytes"

// Opaque reports whether the bytes are no text, as far as they say so themselves: there is a zero
// among them. No document of JSON has one, nor has any text in UTF-8 or another character set with
// ASCII in it; what is compressed or holds numbers has one in any few hundred bytes. UTF-16 and
// UTF-32, which have zeros too, are for [Sniff].
func (k Kind) Opaque(p []byte) bool { return !k.Textual() && bytes.IndexByte(p, 0) >= 0 }
