package websocket

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
)

// Codes of the end (RFC 6455, section 7.4.1, and the registry of IANA).
const (
	CodeProtocol    = 1002 // against the rules
	CodeUnsupported = 1003 // of a kind that is not accepted
	CodePolicy      = 1008 // what it holds is refused
	CodeTooLong     = 1009
	CodeTryAgain    = 1013 // overloaded at present
)

// End is an error that ends a WebSocket, and what its Close frame says.
type End struct {
	Code   uint16
	Reason string // at most 123 bytes; what is more is cut
}

func (e *End) Error() string { return "websocket: " + e.Reason }

// Errors of [Rewriter.Append].
var (
	ErrExtension error = &End{CodeProtocol, "a frame of an extension that was not agreed on"}
	ErrProtocol  error = &End{CodeProtocol, "a frame against the rules of RFC 6455"}
	ErrTooLong   error = &End{CodeTooLong, "a message is too long to be read as a whole"}
)

// AppendClose appends the Close frame that tells a receiver of an error. One that goes to a server has
// to be masked.
func AppendClose(dst []byte, err error, masked bool) []byte {
	f := frame{masked: masked}
	if masked {
		_, _ = rand.Read(f.mask[:]) // which never fails
	}
	return appendClose(dst, err, &f)
}

func appendClose(dst []byte, err error, like *frame) []byte {
	e, ok := errors.AsType[*End](err)
	if !ok {
		e = &End{Code: CodePolicy}
	}
	payload := append(binary.BigEndian.AppendUint16(nil, e.Code), e.Reason...)
	return appendFrame(dst, finBit|closing, payload[:min(len(payload), maxControl)], like)
}
