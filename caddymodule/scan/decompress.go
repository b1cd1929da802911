package scan

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// errUndecodable means that a compressed body cannot be scanned.
var errUndecodable = errors.New("the body's Content-Encoding cannot be decoded")

// decompress returns what a body holds, for scanning, if that is at most limit bytes.
func decompress(p []byte, coding string, limit int64) ([]byte, error) {
	from, err := decompressor(bytes.NewReader(p), coding)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUndecodable, err)
	}
	plain, err := io.ReadAll(io.LimitReader(from, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUndecodable, err)
	case int64(len(plain)) > limit:
		return nil, errUnscanned
	}
	return plain, nil
}

func decompressor(from *bytes.Reader, coding string) (io.Reader, error) {
	switch coding {
	case "gzip":
		return gzip.NewReader(from)
	case "deflate": // RFC 9110, section 8.4.1.2: in zlib's format, which not everybody heeds
		if r, err := zlib.NewReader(from); err == nil {
			return r, nil
		}
		if _, err := from.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		return flate.NewReader(from), nil
	case "zstd":
		return zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	}
	return nil, fmt.Errorf("unknown coding %q", coding)
}
