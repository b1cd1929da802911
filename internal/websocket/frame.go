package websocket

import "encoding/binary"

// Opcodes of RFC 6455, section 5.2.
const (
	continuation = 0x0
	text         = 0x1
	binaryData   = 0x2
	control      = 0x8 // this and all above
	closing      = 0x8
)

const (
	finBit  = 0x80
	rsvBits = 0x70
	maskBit = 0x80
)

// maxControl is the most bytes that a control frame holds.
const maxControl = 125

// frame is the head of a frame.
type frame struct {
	first  byte // FIN, reserved bits, opcode
	length uint64
	masked bool
	mask   [4]byte
}

func (f *frame) opcode() byte { return f.first & 0xf }
func (f *frame) fin() bool    { return f.first&finBit != 0 }

// parse reads the head of a frame, unless it is not complete.
func parse(head []byte) (f frame, complete bool) {
	if len(head) < 2 {
		return f, false
	}
	f = frame{first: head[0], masked: head[1]&maskBit != 0, length: uint64(head[1] &^ maskBit)}
	size := 2
	switch f.length {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	extended := head[2:min(size, len(head))]
	if f.masked {
		size += 4
	}
	if len(head) < size {
		return f, false
	}
	switch len(extended) {
	case 2:
		f.length = uint64(binary.BigEndian.Uint16(extended))
	case 8:
		f.length = binary.BigEndian.Uint64(extended)
	}
	if f.masked {
		copy(f.mask[:], head[size-4:])
	}
	return f, true
}

// unmask takes the mask off bytes of the payload, or puts it on; at is how many came before them.
func (f *frame) unmask(p []byte, at int) {
	if !f.masked {
		return
	}
	for i := range p {
		p[i] ^= f.mask[(at+i)&3]
	}
}

// appendFrame appends a frame of its own with a payload, masked like another one.
func appendFrame(dst []byte, first byte, payload []byte, like *frame) []byte {
	var mask byte
	if like.masked {
		mask = maskBit
	}
	switch n := len(payload); {
	case n < 126:
		dst = append(dst, first, mask|byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, first, mask|126), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, first, mask|127), uint64(n))
	}
	if like.masked {
		dst = append(dst, like.mask[:]...)
	}
	from := len(dst)
	dst = append(dst, payload...)
	like.unmask(dst[from:], 0)
	return dst
}
