package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// The names of archives, and of those that are being written.
const (
	archivePrefix = "audit-"
	archiveSuffix = ".jsonl.zst"
	unfinished    = ".archive-"
)

func archiveName(from, to int64) string {
	return fmt.Sprintf("%s%d-%d%s", archivePrefix, from, to, archiveSuffix)
}

func isArchive(name string) bool {
	return strings.HasPrefix(name, archivePrefix) && strings.HasSuffix(name, archiveSuffix)
}

// archiveWriter writes one archive: the records of run after run, in the form of an export, as JSON
// lines in a stream of zstd. It has another name until it is whole.
type archiveWriter struct {
	state  *archiving
	folder string
	file   *os.File
	zip    *zstd.Encoder
	text   hash.Hash // of the lines
	line   []byte
	size   int // of the lines
	done   Archived
}

// createArchive begins a file in the folder, which it makes if it is missing.
func createArchive(folder string, s *archiving) (*archiveWriter, error) {
	if err := makeFolder(folder); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(folder, unfinished) // mode 0600
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(archiveWindow))
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &archiveWriter{state: s, folder: folder, file: f, zip: z, text: sha256.New()}, nil
}

// makeFolder makes a folder that only its owner can read, and that a power cut leaves there.
func makeFolder(folder string) error {
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return nil
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(folder))
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// check tells what is wrong with the records of a run: their hashes, and what somebody else put into
// the database and cannot be read back from a file.
func (w *archiveWriter) check(events []Event, turns []RunRecord) error {
	for i := range events {
		if err := w.checkEntry(Entry{Event: &events[i]}); err != nil {
			return err
		}
	}
	for i := range turns {
		if err := w.checkEntry(Entry{Turn: &turns[i]}); err != nil {
			return err
		}
	}
	return nil
}

func (w *archiveWriter) checkEntry(e Entry) error {
	if err := e.verify(); err != nil {
		return err
	}
	if w.line = e.line(w.line[:0]); len(w.line) > archiveLine {
		return fmt.Errorf("record %d has %d bytes, and %d fit into an archive", e.seq(), len(w.line), archiveLine)
	}
	if _, err := parseEntry(w.line); err != nil {
		return fmt.Errorf("record %d: %w", e.seq(), err)
	}
	return nil
}

// add writes the records of a run.
func (w *archiveWriter) add(events []Event, turns []RunRecord) error {
	w.state.at("write")
	for i := range events {
		if err := w.write(Entry{Event: &events[i]}); err != nil {
			return err
		}
		seq := events[i].Seq
		if w.done.Events == 0 {
			w.done.From, w.done.To = seq, seq
		}
		w.done.From, w.done.To = min(w.done.From, seq), max(w.done.To, seq)
		w.done.Events++
	}
	for i := range turns {
		if err := w.write(Entry{Turn: &turns[i]}); err != nil {
			return err
		}
		w.done.Turns++
	}
	w.done.Runs++
	return nil
}

func (w *archiveWriter) write(e Entry) error {
	w.line = append(e.line(w.line[:0]), '\n')
	w.size += len(w.line)
	w.text.Write(w.line)
	_, err := w.zip.Write(w.line)
	return err
}

// keep brings the file to disk, compares what is there with what was written, and gives it its name.
func (w *archiveWriter) keep() (Archived, error) {
	if err := w.zip.Close(); err != nil {
		return w.done, err
	}
	w.state.at("sync")
	if err := w.file.Sync(); err != nil {
		return w.done, err
	}
	w.state.at("compare")
	if err := w.compare(); err != nil {
		return w.done, err
	}
	w.done.File = archiveName(w.done.From, w.done.To)
	path := filepath.Join(w.folder, w.done.File)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return w.done, fmt.Errorf("%s: %w, and the log has no record of it: move it to another folder", path, fs.ErrExist)
	}
	w.state.at("rename")
	if err := os.Rename(w.file.Name(), path); err != nil {
		return w.done, err
	}
	w.state.at("sync folder")
	return w.done, syncFolder(w.folder)
}

// compare reads the file back.
func (w *archiveWriter) compare() error {
	if _, err := w.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	text := sha256.New()
	is, err := inspect(w.file, text)
	if err != nil {
		return fmt.Errorf("reading it back: %w", err)
	}
	w.done.Bytes, w.done.SHA256 = is.Bytes, is.SHA256
	if is != w.done || hex.EncodeToString(text.Sum(nil)) != hex.EncodeToString(w.text.Sum(nil)) {
		return errors.New("reading it back: it is not what was written")
	}
	return nil
}

// close lets go of the file, and removes it unless it was kept.
func (w *archiveWriter) close() {
	_ = w.zip.Close() // a second one does nothing; an error of the first was told
	_ = w.file.Close()
	_ = os.Remove(w.file.Name()) // which is not its name any more if it was kept
}
