package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/settings"
)

// isZstd reports whether a file begins like an archive: with the magic number of RFC 8878, section
// 3.1.1.
func isZstd(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, 4)
	_, err = io.ReadFull(f, magic)
	return err == nil && bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// verifyArchives checks the archives that the log knows, as far as they are in their folder.
func verifyArchives(ctx context.Context, home settings.Home) (all []Verified, elsewhere []string, err error) {
	known, err := knownArchives(ctx, home)
	for _, a := range known {
		path := filepath.Join(home.AuditArchive(), a.File)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			elsewhere = append(elsewhere, a.File)
			continue
		}
		all = append(all, compareArchive(path, a))
	}
	return all, elsewhere, err
}

// verifyArchive checks an archive that is anywhere, under any name: the log knows it by its hash.
func verifyArchive(ctx context.Context, home settings.Home, path string) Verified {
	v := Verified{File: path}
	known, err := knownArchives(ctx, home)
	if err != nil {
		v.add(err)
		return v
	}
	is, err := audit.CheckArchive(path)
	if err != nil {
		v.add(err)
		return v
	}
	v.Records = int64(is.Events + is.Turns)
	for _, a := range known {
		if a.SHA256 == is.SHA256 {
			return compareArchive(path, a)
		}
	}
	for _, a := range known {
		if a.File == is.File {
			return compareArchive(path, a)
		}
	}
	v.add(fmt.Errorf("the audit log has no record of an archive with the SHA-256 %s", is.SHA256))
	return v
}

func knownArchives(ctx context.Context, home settings.Home) ([]audit.Archived, error) {
	r, err := OpenAuditReader(ctx, home)
	if err != nil {
		return nil, err
	}
	known, err := r.Archives(ctx)
	return known, errors.Join(err, r.Close())
}

// compareArchive checks an archive, and compares it with what the log says of it.
func compareArchive(path string, said audit.Archived) Verified {
	v := Verified{File: path}
	is, err := audit.CheckArchive(path)
	v.Records = int64(is.Events + is.Turns)
	switch {
	case err != nil:
		v.add(err)
	case is.SHA256 != said.SHA256:
		v.add(fmt.Errorf("its SHA-256 is %s, and the audit log says %s: it is not the file that was written", is.SHA256, said.SHA256))
	case is.Events != said.Events || is.Turns != said.Turns || is.From != said.From || is.To != said.To:
		v.add(fmt.Errorf("it has %d events from %d to %d and %d turns, and the audit log says %d from %d to %d and %d",
			is.Events, is.From, is.To, is.Turns, said.Events, said.From, said.To, said.Turns))
	}
	return v
}
