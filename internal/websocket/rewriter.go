package websocket

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Opcodes of RFC 6455, section 5.2.
const (
	continuation = 0x0
	text         = 0x1
	binaryData   = 0x2
	control      = 0x8 // this and all above
)

const (
	finBit  = 0x80
	rsvBits = 0x70
	maskBit = 0x80
)

// Errors of [Rewriter.Append].
var (
	ErrExtension = errors.New("websocket: a frame of an extension that was not agreed on")
	ErrProtocol  = errors.New("websocket: a frame against the rules of RFC 6455")
	ErrTooLong   = errors.New("websocket: a text message is too long to be read as a whole")
)

// Rewriter rewrites the messages of one direction.
type Rewriter struct {
	// Text returns what becomes of a text message. It may keep neither of the two.
	Text func(message []byte) []byte

	// Max is the most bytes of a text message.
	Max int

	head    []byte // of a frame, as far as it came
	frame   frame
	left    uint64 // bytes of the payload that did not come yet
	at      int    // bytes of the payload that came
	open    bool   // a frame is being read
	kind    byte   // of the message whose last frame did not come yet: text or binaryData; 0: there is none
	message []byte // of text, as far as it came, without masks
	err     error
}

// frame is the head of a frame.
type frame struct {
	first  byte // FIN, reserved bits, opcode
	length uint64
	masked bool
	mask   [4]byte
}

func (f *frame) opcode() byte { return f.first & 0xf }
func (f *frame) fin() bool    { return f.first&finBit != 0 }

// Append appends to dst what can be passed on now that src has come. With the first error comes a
// Close frame that tells the receiver why; after it only the error.
func (r *Rewriter) Append(dst, src []byte) ([]byte, error) {
	for len(src) > 0 && r.err == nil {
		if r.open {
			n := int(min(uint64(len(src)), r.left))
			dst = r.payload(dst, src[:n])
			src = src[n:]
			continue
		}
		src = r.readHead(src)
		if !r.complete() {
			continue
		}
		raw := r.head
		r.head = r.head[:0]
		if r.err = r.begin(); r.err != nil {
			break
		}
		if !r.collects() {
			dst = append(dst, raw...)
		}
		r.open, r.left, r.at = true, r.frame.length, 0
		if r.left == 0 {
			dst = r.payload(dst, nil)
		}
	}
	if r.err != nil && r.kind != closed {
		dst, r.kind = appendClose(dst, r.err, &r.frame), closed
	}
	return dst, r.err
}

// closed is the kind of message after an error.
const closed = 0xff

// readHead takes as many bytes of a frame's head as are there, and returns the others.
func (r *Rewriter) readHead(src []byte) []byte {
	for len(src) > 0 && !r.complete() {
		r.head = append(r.head, src[0])
		src = src[1:]
	}
	return src
}

// complete reports whether the head of a frame is there, and reads it.
func (r *Rewriter) complete() bool {
	if len(r.head) < 2 {
		return false
	}
	size := 2
	extended := 0
	switch r.head[1] &^ maskBit {
	case 126:
		extended = 2
	case 127:
		extended = 8
	}
	masked := r.head[1]&maskBit != 0
	if size += extended; masked {
		size += 4
	}
	if len(r.head) < size {
		return false
	}
	f := frame{first: r.head[0], masked: masked}
	switch extended {
	case 0:
		f.length = uint64(r.head[1] &^ maskBit)
	case 2:
		f.length = uint64(binary.BigEndian.Uint16(r.head[2:]))
	case 8:
		f.length = binary.BigEndian.Uint64(r.head[2:])
	}
	if masked {
		copy(f.mask[:], r.head[size-4:])
	}
	r.frame = f
	return true
}

// begin checks the frame whose head was read, and notes which message it belongs to.
func (r *Rewriter) begin() error {
	f := &r.frame
	switch op := f.opcode(); {
	case f.first&rsvBits != 0:
		return ErrExtension
	case f.length > 1<<63-1:
		return fmt.Errorf("%w: its length", ErrProtocol)
	case op >= control:
		if !f.fin() || f.length > 125 {
			return fmt.Errorf("%w: a long or fragmented control frame", ErrProtocol)
		}
		return nil
	case op == continuation && r.kind == 0, op != continuation && r.kind != 0:
		return fmt.Errorf("%w: a fragment out of its order", ErrProtocol)
	case op > binaryData:
		return fmt.Errorf("%w: an unknown kind of data", ErrProtocol)
	case op != continuation:
		r.kind = op
	}
	if r.kind == text && f.length > uint64(r.Max-len(r.message)) {
		return ErrTooLong
	}
	return nil
}

// collects reports whether the open frame is one of a text message.
func (r *Rewriter) collects() bool { return r.frame.opcode() < control && r.kind == text }

// payload takes bytes of the open frame.
func (r *Rewriter) payload(dst, p []byte) []byte {
	if r.collects() {
		from := len(r.message)
		r.message = append(r.message, p...)
		r.frame.unmask(r.message[from:], r.at)
	} else {
		dst = append(dst, p...)
	}
	r.at += len(p)
	if r.left -= uint64(len(p)); r.left > 0 {
		return dst
	}
	r.open = false
	if r.frame.opcode() >= control || !r.frame.fin() {
		return dst
	}
	if r.kind == text {
		dst = appendFrame(dst, finBit|text, r.Text(r.message), &r.frame)
		if r.message = r.message[:0]; cap(r.message) > maxKept {
			r.message = nil
		}
	}
	r.kind = 0
	return dst
}

// maxKept is the most bytes of memory that are kept from message to message.
const maxKept = 64 << 10

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

// appendClose appends a Close frame for an error (RFC 6455, section 7.4.1).
func appendClose(dst []byte, err error, like *frame) []byte {
	code := uint16(1002)
	if errors.Is(err, ErrTooLong) {
		code = 1009
	}
	return appendFrame(dst, finBit|control, append(binary.BigEndian.AppendUint16(nil, code), err.Error()...), like)
}
