package state

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// words are what events, runs and messages are mostly made of, so that they need not be spelt out
// again in each row. Rows refer to it: the file never changes. A better one gets another number,
// beside this one.
//
//go:embed words1.txt
var words []byte

const (
	wordsID = 1

	packFrom  = 256      // bytes of a document from which it is packed; below, little is won
	maxMemory = 64 << 20 // bytes of a row when unpacked
)

// packer writes documents as they stand in a row: short ones as text, others compressed with zstd, as
// a BLOB. It reads text of any length. It is safe for concurrent use.
type packer struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newPacker() (*packer, error) {
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderDictRaw(wordsID, words), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
		zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("preparing the compression of rows: %w", err)
	}
	dec, err := zstd.NewReader(nil,
		zstd.WithDecoderDictRaw(wordsID, words), zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxMemory), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("preparing the decompression of rows: %w", err), enc.Close())
	}
	return &packer{enc, dec}, nil
}

// pack returns the value of a column for what JSON makes of v.
func (p *packer) pack(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil || len(data) < packFrom || len(data) > maxMemory {
		return string(data), err
	}
	return p.enc.EncodeAll(data, make([]byte, 0, len(data)/4)), nil
}

// text returns the value of a column that is not packed, whatever its length.
func text(v any) (any, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

// unpack reads the value of a column into v.
func (p *packer) unpack(column, v any) error {
	var data []byte
	switch c := column.(type) {
	case string:
		data = []byte(c)
	case []byte:
		var err error
		if data, err = p.dec.DecodeAll(c, nil); err != nil {
			return fmt.Errorf("unpacking a row: %w", err)
		}
	default:
		return fmt.Errorf("unpacking a row: it is a %T, neither text nor a BLOB", column)
	}
	return json.Unmarshal(data, v)
}

func (p *packer) close() error {
	p.dec.Close()
	return p.enc.Close()
}
