package media

// Head keeps the first bytes of a body that comes in pieces until they tell what it is. The zero value
// is ready for use.
type Head struct {
	// Start is what the first bytes say. It is final when Told is true, and of a body that has ended.
	Start Start

	// Told says that no more bytes are needed.
	Told bool

	bytes []byte
}

// Add takes the next piece and reports whether that tells what the body is. Until then the piece is
// kept; the one that tells is not copied.
func (h *Head) Add(p []byte, k Kind) bool {
	if len(h.bytes) > 0 {
		p = append(h.bytes, p...)
	}
	h.Start, h.Told = Sniff(p, k)
	if h.bytes = p; !h.Told {
		h.bytes = append([]byte(nil), p...)
	}
	return h.Told
}

// Bytes returns all that has come so far, as long as that did not tell, and with the piece that did.
// They are given once.
func (h *Head) Bytes() []byte {
	p := h.bytes
	h.bytes = nil
	return p
}
