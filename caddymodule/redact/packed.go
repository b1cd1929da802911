package redact

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/svc-gateway/svc/internal/media"
)

// limits of what is unpacked of a body to see what it is.
const (
	enoughUnpacked = 512       // bytes that tell text from the header of an archive
	enoughPacked   = 256 << 10 // bytes of which that many must come
)

// packed passes a body that is compressed and does not say of what, if it is no text: an archive or a
// program. A compressed text cannot be redacted; text then is true.
type packed struct {
	format  media.Format
	kept    []byte
	decided bool
	text    bool
}

// Append implements redact.Stream.
func (p *packed) Append(dst, src []byte) []byte {
	if p.decided {
		return append(dst, src...)
	}
	p.kept = append(p.kept, src...)
	return p.decide(dst, len(p.kept) >= enoughPacked)
}

// Close implements redact.Stream.
func (p *packed) Close(dst []byte) []byte {
	if p.decided {
		return dst
	}
	return p.decide(dst, true)
}

// decide tells from what has come whether the body is text; last says that no more is waited for.
func (p *packed) decide(dst []byte, last bool) []byte {
	plain, whole := unpack(p.format, p.kept)
	if len(plain) < enoughUnpacked && !whole && !last {
		return dst
	}
	p.decided, p.text = true, len(plain) == 0 && !whole || isText(plain)
	if !p.text {
		dst = append(dst, p.kept...)
	}
	p.kept = nil
	return dst
}

// unpack returns the first bytes of what is compressed in p, and whether they are all of it.
func unpack(f media.Format, p []byte) (plain []byte, whole bool) {
	var r io.Reader
	switch f {
	case media.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(p))
		if err != nil {
			return nil, false
		}
		r = z
	case media.Zstd:
		z, err := zstd.NewReader(bytes.NewReader(p), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(8<<20))
		if err != nil {
			return nil, false
		}
		defer z.Close()
		r = z
	case media.Bzip2:
		r = bzip2.NewReader(bytes.NewReader(p))
	default:
		return nil, false // not to be read here
	}
	plain, err := io.ReadAll(io.LimitReader(r, enoughUnpacked))
	return plain, err == nil && len(plain) < enoughUnpacked
}

// isText reports whether bytes are some that text has.
func isText(p []byte) bool {
	return len(p) > 0 && bytes.IndexFunc(p, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != 0x1b }) < 0
}
