package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/settings"
)

// Verified is what a check of one database found.
type Verified struct {
	File    string   `json:"file"`
	Records int64    `json:"records,omitempty"` // of the audit log or an archive, as they were recorded
	Faults  []string `json:"faults,omitempty"`  // for people; none means that nothing is wrong

	// Elsewhere are archives that the log knows and that are not in their folder.
	Elsewhere []string `json:"archives_elsewhere,omitempty"`
}

// Verify checks the databases of a data folder in full, and the archives that are there, whether a
// service works on it or not.
func Verify(ctx context.Context, home settings.Home) []Verified {
	log := verifyLog(ctx, home.AuditDB())
	beside, elsewhere, err := verifyArchives(ctx, home)
	log.Elsewhere = elsewhere
	if len(log.Faults) == 0 {
		log.add(err)
	}
	for _, d := range databases {
		path := d.Path(home)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue // a program without what uses it
		}
		v := Verified{File: path}
		v.add(d.Check(ctx, path))
		m, err := d.Witnessed(ctx, path)
		v.add(err)
		if err == nil && m.Log != "" && own(path) {
			v.add(reaches(ctx, home, m))
		}
		beside = append(beside, v)
	}
	return append([]Verified{log}, beside...)
}

// VerifyAudit checks a backup of the audit log, or an archive, in full.
func VerifyAudit(ctx context.Context, home settings.Home, path string) Verified {
	if isZstd(path) {
		return verifyArchive(ctx, home, path)
	}
	return verifyLog(ctx, path)
}

func verifyLog(ctx context.Context, path string) (v Verified) {
	v.File = path
	r, err := openAuditFile(ctx, path)
	if err != nil {
		v.add(err)
		return v
	}
	defer func() { v.add(r.Close()) }()
	if err := r.Check(ctx); err != nil {
		v.add(err)
		return v // records cannot be read, or not all
	}
	v.Records, err = r.Verify(ctx, audit.Filter{})
	v.add(err)
	return v
}

// reaches returns an error unless the log comes as far as a database beside it has seen.
func reaches(ctx context.Context, home settings.Home, m audit.Mark) error {
	r, err := OpenAuditReader(ctx, home)
	if err != nil {
		return nil // told of the log itself
	}
	is, err := r.Mark(ctx)
	if err == nil && is.Log != m.Log {
		err = errors.New("it belongs to another audit log")
	} else if err == nil && is.Seq < m.Seq {
		err = errors.New("it has seen more of the audit log than there is")
	}
	return errors.Join(err, r.Close())
}

func (v *Verified) add(err error) {
	if err != nil {
		v.Faults = append(v.Faults, strings.Split(err.Error(), "\n")...)
	}
}
