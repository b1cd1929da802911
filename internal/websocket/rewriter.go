package websocket

import "fmt"

// Kind is what a piece is of.
type Kind uint8

// The kinds.
const (
	Text    Kind = text
	Binary  Kind = binaryData
	Control Kind = control // a ping, a pong or a Close frame
)

// Piece is a message, or a part of a long one.
type Piece struct {
	Kind        Kind
	Data        []byte // without the mask
	First, Last bool   // it begins the message, ends it; both hold for a whole one
}

// Rewriter rewrites the messages of one direction. The zero value passes them on as they come.
type Rewriter struct {
	// Take returns what passes of a message, or of a piece of one, and of what it kept of the pieces
	// before. It may change the data, and must not keep it. With an error, such as an [End], the
	// connection ends. Nil: all passes as it comes.
	Take func(p Piece) ([]byte, error)

	// All has binary messages and control frames taken, too. Else they pass as they come.
	All bool

	// Max is the most bytes of a message that are kept until it is complete.
	Max int

	// Long has longer messages taken in pieces. Else they are [ErrTooLong].
	Long bool

	head    []byte // of a frame, as far as it came
	frame   frame
	left    uint64 // bytes of the payload that did not come yet
	at      int    // bytes of the payload that came
	open    bool   // a frame is being read
	kind    byte   // of the message whose last frame did not come yet: text or binaryData; 0: there is none
	message []byte // as far as it came and was not taken, without masks
	control []byte // the same of a control frame
	taken   bool   // a piece of the message was
	sent    bool   // a frame of the message was
	closing bool   // a Close frame came
	err     error
}

// Append appends to dst what can be passed on now that src has come. With the first error comes a
// Close frame that tells the receiver why; after it only the error.
func (r *Rewriter) Append(dst, src []byte) ([]byte, error) {
	if r.err != nil {
		return dst, r.err
	}
	for len(src) > 0 && r.err == nil {
		if r.open {
			n := int(min(uint64(len(src)), r.left))
			dst, r.err = r.payload(dst, src[:n])
			src = src[n:]
			continue
		}
		complete := false
		for len(src) > 0 && !complete {
			r.head, src = append(r.head, src[0]), src[1:]
			r.frame, complete = parse(r.head)
		}
		if complete {
			dst, r.err = r.begin(dst)
		}
	}
	if r.err != nil {
		dst = appendClose(dst, r.err, &r.frame)
	}
	return dst, r.err
}

// Between reports whether what was appended so far ends where a frame ends, so that a frame of somebody
// else's fits in.
func (r *Rewriter) Between() bool { return !r.open || r.takes() }

// Closing reports whether a Close frame came: this direction has no more to say.
func (r *Rewriter) Closing() bool { return r.closing }

// begin begins the frame whose head was read.
func (r *Rewriter) begin(dst []byte) ([]byte, error) {
	raw := r.head
	r.head = r.head[:0]
	if err := r.check(); err != nil {
		return dst, err
	}
	if !r.takes() {
		dst = append(dst, raw...)
	}
	r.open, r.left, r.at = true, r.frame.length, 0
	if r.left == 0 {
		return r.payload(dst, nil)
	}
	return dst, nil
}

// check checks a frame, and notes which message it belongs to.
func (r *Rewriter) check() error {
	f := &r.frame
	switch op := f.opcode(); {
	case f.first&rsvBits != 0:
		return ErrExtension
	case f.length > 1<<63-1:
		return fmt.Errorf("%w: its length", ErrProtocol)
	case op >= control:
		if !f.fin() || f.length > maxControl {
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
	if r.takes() && !r.Long && f.length > uint64(r.Max-len(r.message)) {
		return ErrTooLong
	}
	return nil
}

// takes reports whether the open frame is taken, rather than passed as it comes.
func (r *Rewriter) takes() bool {
	return r.Take != nil && (r.All || r.frame.opcode() < control && r.kind == text)
}

// payload takes bytes of the open frame.
func (r *Rewriter) payload(dst, p []byte) (_ []byte, err error) {
	isControl := r.frame.opcode() >= control
	switch {
	case !r.takes():
		dst = append(dst, p...)
	case isControl:
		r.control = r.append(r.control, p, r.at)
	default:
		dst, err = r.collect(dst, p)
	}
	r.at += len(p)
	r.left -= uint64(len(p))
	if r.left > 0 || err != nil {
		return dst, err
	}
	r.open = false
	if isControl {
		return r.endControl(dst)
	}
	if !r.frame.fin() {
		return dst, nil
	}
	if r.takes() {
		dst, err = r.take(dst, true)
	}
	r.kind = 0
	return dst, err
}

// append appends bytes of the open frame, before which there were so many, without their mask.
func (r *Rewriter) append(to, p []byte, at int) []byte {
	from := len(to)
	to = append(to, p...)
	r.frame.unmask(to[from:], at)
	return to
}

// collect keeps bytes of a message, as far as they fit, and has what does not taken.
func (r *Rewriter) collect(dst, p []byte) (_ []byte, err error) {
	for at := r.at; len(p) > 0; {
		if len(r.message) >= r.Max && !r.taken || r.taken && len(r.message) > 0 {
			if dst, err = r.take(dst, false); err != nil {
				return dst, err
			}
		}
		n := min(len(p), max(1, r.Max-len(r.message)))
		r.message = r.append(r.message, p[:n], at)
		p, at = p[n:], at+n
	}
	return dst, nil
}

// maxKept is the most bytes of memory that are kept from message to message.
const maxKept = 64 << 10

// take has taken what was kept of a message, and appends what passes of it.
func (r *Rewriter) take(dst []byte, last bool) ([]byte, error) {
	out, err := r.Take(Piece{Kind: Kind(r.kind), Data: r.message, First: !r.taken, Last: last})
	if err != nil {
		return dst, err
	}
	if last || len(out) > 0 {
		first := r.kind
		if r.sent {
			first = continuation
		}
		if last {
			first |= finBit
		}
		dst = appendFrame(dst, first, out, &r.frame)
		r.sent = !last
	}
	r.taken = !last
	if r.message = r.message[:0]; last && cap(r.message) > maxKept {
		r.message = nil
	}
	return dst, nil
}

// endControl ends a control frame.
func (r *Rewriter) endControl(dst []byte) ([]byte, error) {
	r.closing = r.closing || r.frame.opcode() == closing
	if !r.takes() {
		return dst, nil
	}
	out, err := r.Take(Piece{Kind: Control, Data: r.control, First: true, Last: true})
	r.control = r.control[:0]
	if err != nil {
		return dst, err
	}
	return appendFrame(dst, r.frame.first, out, &r.frame), nil
}
