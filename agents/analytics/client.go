package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/duckwire"
)

const (
	patience    = 5 * time.Second // how long a caller waits for a writer that is being started
	glance      = 20 * time.Millisecond
	maxReply    = 1 << 20 // bytes of an answer of the writer
	maxAttempts = 3       // how often a snapshot is asked for, if its writer dies or if it is gone when it is opened
)

// connect returns when a writer answers on the socket.
func (d *DB) connect(ctx context.Context) error {
	if d.missing != nil {
		return d.missing
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if d.answers(wait) {
			return nil
		}
		select {
		case <-wait.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.Join(errors.New("the writer of the analytical database does not answer"), d.failed())
		case <-time.After(glance):
		}
	}
}

// answers reports whether somebody listens on the socket.
func (d *DB) answers(ctx context.Context) bool {
	c, err := new(net.Dialer).DialContext(ctx, "unix", d.config.Socket)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Use makes sure of a writer, for a command that runs beside the service or without it: it uses the
// one that answers, else it starts one, as Serve does.
func (d *DB) Use(ctx context.Context) error {
	if d.missing == nil && !d.answers(ctx) {
		d.Serve()
	}
	return d.connect(ctx)
}

// call makes a request of the writer.
func (d *DB) call(ctx context.Context, path string, query url.Values, body io.Reader, out any) error {
	if err := d.connect(ctx); err != nil {
		return err
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", d.config.Socket)
		},
	}
	defer transport.CloseIdleConnections()
	if body == nil {
		body = http.NoBody
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://writer"+path+"?"+query.Encode(), body)
	if err != nil {
		return fmt.Errorf("asking the writer: %w", err)
	}
	req.Header.Set(duckwire.VersionHeader, compat.Version)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("asking the writer: %w", err)
	}
	defer resp.Body.Close()
	if err := compat.Check(resp.Header.Get(duckwire.VersionHeader)); err != nil {
		return err
	}
	answer := json.NewDecoder(io.LimitReader(resp.Body, maxReply))
	if resp.StatusCode != http.StatusOK {
		f := &duckwire.Fault{}
		if err := answer.Decode(f); err != nil || f.Code == "" {
			return fmt.Errorf("asking the writer: it answers %s", resp.Status)
		}
		return f
	}
	if err := answer.Decode(out); err != nil {
		return fmt.Errorf("reading the writer's answer: %w", err)
	}
	return nil
}

// File is what is imported.
type File struct {
	Name   string // for messages, and as the source of log lines; an ending .gz means compressed
	Table  string
	Format string // duckwire.FormatCSV and so on
	Mode   string // duckwire.ModeCreate and so on

	Headless bool // a CSV file has no line with the names of its columns
}

// Import sends a file to the writer, which adds all of it to the table or nothing. What is wrong with
// the file is a [*duckwire.Fault] with the place.
func (d *DB) Import(ctx context.Context, f File, body io.Reader) (done duckwire.Imported, err error) {
	err = d.call(ctx, duckwire.PathImport, url.Values{
		"name": {f.Name}, "table": {f.Table}, "format": {f.Format}, "mode": {f.Mode}, "header": {strconv.FormatBool(!f.Headless)},
	}, io.NopCloser(body), &done)
	return done, err
}

// AddMessages adds log messages, a [duckwire.Message] as JSON on each line, to a table: all of them or none.
// Those that came longer ago than keep are removed; 0 keeps them.
func (d *DB) AddMessages(ctx context.Context, table string, keep time.Duration, lines io.Reader) (done duckwire.Added, err error) {
	err = d.call(ctx, duckwire.PathMessages, url.Values{
		"table": {table}, "keep_ms": {strconv.FormatInt(keep.Milliseconds(), 10)},
	}, io.NopCloser(lines), &done)
	return done, err
}

// Publish makes a snapshot of the newest state, so that the next query sees it however old a snapshot
// may be.
func (d *DB) Publish(ctx context.Context) error {
	_, err := d.snapshot(ctx, 0)
	return err
}

// snapshot asks for a snapshot that is at most maxAge old. It asks the next writer when one dies before
// it answers: a snapshot too many does no harm.
func (d *DB) snapshot(ctx context.Context, maxAge time.Duration) (s duckwire.Snapshot, err error) {
	for range maxAttempts {
		err = d.call(ctx, duckwire.PathSnapshot, url.Values{"max_age_ms": {strconv.FormatInt(maxAge.Milliseconds(), 10)}}, nil, &s)
		if !brokenOff(err) {
			break
		}
	}
	return s, err
}

// brokenOff reports whether the other side of a connection went away.
func brokenOff(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}
