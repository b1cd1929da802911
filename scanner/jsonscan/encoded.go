package jsonscan

// Encoded is the encoded form of a text.
type Encoded struct {
	Raw     []byte
	lengths []uint16 // for each decoded byte; 0 where the byte before has it all
}

// Push adds the encoded form of n bytes.
func (e *Encoded) Push(raw []byte, n int) {
	e.Raw = append(e.Raw, raw...)
	e.lengths = append(e.lengths, uint16(len(raw)))
	for range n - 1 {
		e.lengths = append(e.lengths, 0)
	}
}

// Each adds text that is its own encoded form.
func (e *Encoded) Each(p []byte) {
	for i := range p {
		e.Push(p[i:i+1], 1)
	}
}

// Write makes it the text as it stands in a JSON string, with depth strings around that one.
func (e *Encoded) Write(text []byte, depth int) {
	e.Reset()
	for _, b := range text {
		raw := AppendEscaped(nil, []byte{b})
		for range depth {
			raw = AppendEscaped(nil, raw)
		}
		e.Push(raw, 1)
	}
}

// Pop forgets the first n bytes and returns their encoded form, until the next call.
func (e *Encoded) Pop(n int) []byte {
	raw := 0
	for _, l := range e.lengths[:n] {
		raw += int(l)
	}
	out := e.Raw[:raw]
	e.lengths, e.Raw = e.lengths[n:], e.Raw[raw:]
	if len(e.lengths) == 0 {
		e.lengths, e.Raw = e.lengths[:0], e.Raw[:0]
	}
	return out
}

// Move moves the first n bytes to the end of another text.
func (e *Encoded) Move(to *Encoded, n int) {
	to.lengths = append(to.lengths, e.lengths[:n]...)
	to.Raw = append(to.Raw, e.Pop(n)...)
}

// Reset makes it empty.
func (e *Encoded) Reset() { e.Raw, e.lengths = e.Raw[:0], e.lengths[:0] }
