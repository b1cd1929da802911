package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Kind is what a frame holds.
type Kind byte

// The kinds of frames, in their order. A frame is a kind, eight bytes of length, and that many bytes.
const (
	KindReport  Kind = 'R'
	KindFile    Kind = 'F'
	KindSummary Kind = 'S'
)

// MaxMessage is the longest JSON text of a frame or a request, without the content of files.
const MaxMessage = 8 << 20

const headerSize = 9

// WriteHeader writes the beginning of a frame, whose size bytes the caller writes.
func WriteHeader(w io.Writer, k Kind, size int64) error {
	var h [headerSize]byte
	h[0] = byte(k)
	binary.BigEndian.PutUint64(h[1:], uint64(size))
	_, err := w.Write(h[:])
	return err
}

// WriteMessage writes a frame with v as JSON.
func WriteMessage(w io.Writer, k Kind, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := WriteHeader(w, k, int64(len(text))); err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// ReadHeader reads the beginning of a frame. It is io.EOF when there is none.
func ReadHeader(r io.Reader) (Kind, int64, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, 0, err
	}
	size := binary.BigEndian.Uint64(h[1:])
	if size > 1<<50 {
		return 0, 0, errors.New("a frame is too long")
	}
	return Kind(h[0]), int64(size), nil
}

// ReadMessage reads the JSON text of a frame.
func ReadMessage(r io.Reader, size int64, v any) error {
	if size > MaxMessage {
		return fmt.Errorf("a message has %d bytes, at most %d are allowed", size, MaxMessage)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// WriteRequest writes a request: eight bytes of length and JSON.
func WriteRequest(w io.Writer, text []byte) error {
	var h [8]byte
	binary.BigEndian.PutUint64(h[:], uint64(len(text)))
	if _, err := w.Write(h[:]); err != nil {
		return err
	}
	_, err := w.Write(text)
	return err
}

// ReadRequest reads the JSON of a request of at most most bytes.
func ReadRequest(r io.Reader, most int64) ([]byte, error) {
	var h [8]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint64(h[:])
	if size > uint64(most) {
		return nil, fmt.Errorf("the request has %d bytes, at most %d are allowed", size, most)
	}
	text := make([]byte, size)
	_, err := io.ReadFull(r, text)
	return text, err
}
