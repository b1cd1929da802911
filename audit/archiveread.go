package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

const (
	archiveWindow = 1 << 20  // of the compression: what reading one takes
	archiveLine   = 64 << 20 // bytes of a line at most
)

// Entry is one record of an archive: an event, or the record of a model's turn.
type Entry struct {
	Event *Event     // or nil
	Turn  *RunRecord // or nil
}

// run is what the record belongs to.
func (e Entry) run() string {
	if e.Event != nil {
		return e.Event.Run
	}
	return e.Turn.Run
}

func (e Entry) seq() int64 {
	if e.Event != nil {
		return e.Event.Seq
	}
	return e.Turn.Seq
}

// line is the record as it stands in the archive.
func (e Entry) line(b []byte) []byte {
	if e.Event != nil {
		return appendEvent(b, e.Event, true)
	}
	return appendRun(b, e.Turn, true)
}

func (e Entry) verify() error {
	if e.Event != nil {
		return Verify(*e.Event)
	}
	return verifyRun(*e.Turn)
}

// ReadArchive yields the records of the archive at path, run after run. It stops after an error,
// which tells of a file that is damaged or no archive. Hashes are not looked at: that does
// [CheckArchive].
func ReadArchive(path string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Entry{}, fmt.Errorf("reading the archive: %w", err))
			return
		}
		defer f.Close()
		for e, err := range entries(f, io.Discard) {
			if err != nil {
				err = fmt.Errorf("reading the archive %s: %w", path, err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// CheckArchive reads the archive at path and recomputes the hash of each record. Its error says what
// is wrong. What it returns can be compared with what the log says of it; Before is not known.
func CheckArchive(path string) (is Archived, err error) {
	f, err := os.Open(path)
	if err != nil {
		return is, fmt.Errorf("checking the archive: %w", err)
	}
	defer f.Close()
	is, err = inspect(f, io.Discard)
	is.File = filepath.Base(path)
	if err != nil {
		err = fmt.Errorf("checking the archive %s: %w", path, err)
	}
	return is, err
}

// inspect reads a whole archive, checks its records and says what it is. The lines go to text.
func inspect(f io.Reader, text io.Writer) (is Archived, err error) {
	sum := sha256.New()
	counted := &counter{r: io.TeeReader(f, sum)}
	run := ""
	for e, err := range entries(counted, text) {
		if err == nil {
			err = e.verify()
		}
		if err != nil {
			return is, err
		}
		if e.Event == nil {
			is.Turns++
		} else {
			if is.Events == 0 {
				is.From, is.To = e.Event.Seq, e.Event.Seq
			}
			is.From, is.To = min(is.From, e.Event.Seq), max(is.To, e.Event.Seq)
			is.Events++
		}
		if is.Runs == 0 || e.run() != run {
			run = e.run()
			is.Runs++
		}
	}
	if _, err := io.Copy(io.Discard, counted); err != nil {
		return is, err
	}
	is.Bytes, is.SHA256 = counted.n, hex.EncodeToString(sum.Sum(nil))
	return is, nil
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// entries reads the records of an archive. Its lines go to text as well.
func entries(r io.Reader, text io.Writer) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(archiveWindow))
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer z.Close()
		lines := bufio.NewScanner(io.TeeReader(z, text))
		lines.Buffer(nil, archiveLine+2)
		lines.Split(scanLines)
		n := 0
		for lines.Scan() {
			n++
			e, err := parseEntry(lines.Bytes())
			if err != nil {
				yield(Entry{}, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Entry{}, fmt.Errorf("after line %d: %w", n, err))
		}
	}
}

// scanLines splits at the ends of lines. Each line has one, the last too: a file that was cut has none.
func scanLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// turnLine is the form of a model's turn: Estimated is a number in the log.
type turnLine struct {
	RunRecord
	Estimated int `json:"estimated"`
}

// parseEntry reads one line, which has nothing but a record, in its one form.
func parseEntry(line []byte) (e Entry, err error) {
	var event Event
	if err := json.Unmarshal(line, &event); err != nil {
		return e, fmt.Errorf("it is no record: %w", err)
	}
	if event.Type != "" {
		e.Event = &event
	} else {
		var turn turnLine
		if err := json.Unmarshal(line, &turn); err != nil {
			return e, fmt.Errorf("it is no record: %w", err)
		}
		turn.RunRecord.Estimated = turn.Estimated != 0
		e.Turn = &turn.RunRecord
	}
	if !bytes.Equal(e.line(nil), line) {
		return Entry{}, errors.New("it is no record in the form of the log")
	}
	return e, nil
}
