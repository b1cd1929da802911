package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
)

// ErrOtherAudit means that the audit log is not the one that belongs to the data folder, or not all
// of it.
var ErrOtherAudit = errors.New("the audit log is not what it was")

// acceptAction is the action of the record that such a log was accepted.
const acceptAction = "audit.accept"

const (
	newestRecords = 256         // whose hashes a start checks
	newestTime    = time.Second // and how long at most
)

var accepted atomic.Bool

// AcceptNewAudit lets the process begin with any audit log, or with none, and record that it did. The
// program's main calls it before a configuration is loaded.
func AcceptNewAudit() { accepted.Store(true) }

// noted is what one database says of the audit log that it belongs to.
type noted struct {
	file string
	note func(ctx context.Context, m audit.Mark) error
	audit.Mark
}

// readNoted asks the databases beside the log, before one of them is opened.
func readNoted(ctx context.Context, home settings.Home) (all []noted, err error) {
	for _, d := range databases {
		path := d.Path(home)
		if !own(path) {
			continue
		}
		m, err := d.Witnessed(ctx, path)
		if err != nil {
			return nil, err
		}
		if m.Log != "" {
			note := func(ctx context.Context, m audit.Mark) error { return d.WitnessAt(ctx, path, m) }
			all = append(all, noted{filepath.Base(path), note, m})
		}
	}
	return all, nil
}

// missing tells of a log that is not there, though a database belongs to it. Opening it would make an
// empty one.
func missing(home settings.Home, all []noted) (faults []string) {
	if _, err := os.Stat(home.AuditDB()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, n := range all {
		faults = append(faults, fmt.Sprintf("audit.db is missing, and %s has seen %d events in it", n.file, n.Seq))
	}
	return faults
}

// compare tells what is wrong with an open log.
func compare(ctx context.Context, log *audit.Log, all []noted) (faults []string, err error) {
	m, err := log.Mark(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		switch {
		case n.Log != m.Log:
			faults = append(faults, fmt.Sprintf("audit.db is another log than the one that %s belongs to", n.file))
		case n.Seq > m.Seq:
			faults = append(faults, fmt.Sprintf("audit.db ends with event %d, and %s has seen event %d", m.Seq, n.file, n.Seq))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, newestTime)
	defer cancel()
	err = log.VerifyNewest(ctx, newestRecords, func(e *audit.Event) bool { return e.Type == audit.Admin && e.Action == acceptAction })
	if err != nil {
		faults = append(faults, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return faults, nil
}

// refusal is the error of a start that finds faults.
func refusal(home settings.Home, faults []string) error {
	accept := "audit accept"
	if cli.Has("web") {
		accept = "web start --accept-new-audit"
	}
	return fmt.Errorf("%w: %s: put the right one into %s, or accept what is there with %s, which is recorded",
		ErrOtherAudit, strings.Join(faults, "; "), filepath.Dir(home.AuditDB()), cli.Command(accept))
}

// accept records that a log with faults was accepted, and has the databases beside it belong to it,
// also those that this configuration does not open.
func accept(ctx context.Context, log *audit.Log, faults []string, all []noted) error {
	input, err := json.Marshal(map[string][]string{"faults": faults})
	if err != nil {
		return err
	}
	by := identity.OSPrincipal(os.Geteuid())
	err = log.Record(ctx, audit.Event{
		Type: audit.Admin, User: by.User, Role: string(by.Role), Action: acceptAction, Input: string(input), Status: "success",
	})
	if err != nil {
		return err
	}
	m, err := log.Mark(ctx)
	for _, n := range all {
		if err == nil {
			err = n.note(ctx, m)
		}
	}
	return err
}

// openTogether opens the audit log, if it is the one that belongs to the databases beside it or was
// accepted.
func openTogether(ctx context.Context, home settings.Home, node string, trouble func(string, error)) (*audit.Log, error) {
	all, err := readNoted(ctx, home)
	if err != nil {
		return nil, err
	}
	faults := missing(home, all)
	if len(faults) > 0 && !accepted.Load() {
		return nil, refusal(home, faults)
	}
	log, err := openAudit(ctx, home, node, trouble)
	if err != nil {
		return nil, err
	}
	if len(faults) == 0 {
		faults, err = compare(ctx, log, all)
	}
	switch {
	case err != nil || len(faults) == 0:
	case accepted.Load():
		err = accept(ctx, log, faults, all)
	default:
		err = refusal(home, faults)
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}
