package app

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/logging"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
	"golang.org/x/term"

	"github.com/svc-gateway/svc/scanner/redact"
)

func init() {
	caddy.RegisterModule(new(LogFormat))
}

// LogFormat is the log encoder svc: another encoder, whose lines are redacted before they are
// written. Caddy itself hides the header fields Authorization and Cookie of requests that it
// logs; it does not know X-Api-Key, and what stands in an address or an error it writes as it is.
type LogFormat struct {
	// The encoder that makes the lines. Default: console on a terminal, else json.
	WrappedRaw json.RawMessage `json:"wrap,omitempty" caddy:"namespace=caddy.logging.encoders inline_key=format"`

	zapcore.Encoder `json:"-"`
}

// CaddyModule returns the Caddy module information.
func (*LogFormat) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.logging.encoders.svc", New: func() caddy.Module { return new(LogFormat) }}
}

// UnmarshalCaddyfile reads the encoder:
//
//	format svc {
//		wrap <encoder>
//	}
func (f *LogFormat) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // svc
	if d.NextArg() {
		return d.Errf("format svc takes no argument, found %q: open a block and write wrap %[1]s", d.Val())
	}
	for d.NextBlock(0) {
		if d.Val() != "wrap" || f.WrappedRaw != nil {
			return d.Errf("format svc: unknown option %q: want wrap, once", d.Val())
		}
		if !d.NextArg() {
			return d.Err("format svc: wrap needs the name of an encoder, such as json")
		}
		name := d.Val()
		module, err := caddyfile.UnmarshalModule(d, "caddy.logging.encoders."+name)
		if err != nil {
			return err
		}
		f.WrappedRaw = caddyconfig.JSONModuleObject(module, "format", name, nil)
	}
	return nil
}

// Provision makes the encoder that is wrapped.
func (f *LogFormat) Provision(ctx caddy.Context) error {
	if f.WrappedRaw == nil {
		plain := new(logging.JSONEncoder)
		f.Encoder = plain
		return plain.Provision(ctx)
	}
	wrapped, err := ctx.LoadModule(f, "WrappedRaw")
	if err != nil {
		return fmt.Errorf("loading the encoder to wrap: %w", err)
	}
	f.Encoder = wrapped.(zapcore.Encoder)
	return nil
}

// ConfigureDefaultFormat has lines for people where a person looks on.
func (f *LogFormat) ConfigureDefaultFormat(to caddy.WriterOpener) error {
	if wrapped, ok := f.Encoder.(caddy.ConfiguresFormatterDefault); ok {
		return wrapped.ConfigureDefaultFormat(to)
	}
	if f.WrappedRaw != nil || !caddy.IsWriterStandardStream(to) || !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	console := new(logging.ConsoleEncoder)
	f.Encoder = console
	return console.Provision(caddy.Context{})
}

// Clone returns a copy that fields can be added to.
func (f *LogFormat) Clone() zapcore.Encoder {
	return &LogFormat{WrappedRaw: f.WrappedRaw, Encoder: f.Encoder.Clone()}
}

// EncodeEntry makes a line and redacts it.
func (f *LogFormat) EncodeEntry(e zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line, err := f.Encoder.EncodeEntry(e, fields)
	if err != nil {
		return line, err
	}
	text := line.String()
	redacted := redactLine(text)
	if redacted != text {
		line.Reset()
		line.AppendString(redacted)
	}
	return line, nil
}

// redactLine redacts a line by its form: of JSON the strings, decoded, and else the text.
func redactLine(line string) string {
	if len(line) > 0 && line[0] == '{' {
		return string(redact.JSON([]byte(line)))
	}
	return redact.Text(line)
}

// Interface guards.
var (
	_ caddy.Provisioner                = (*LogFormat)(nil)
	_ caddyfile.Unmarshaler            = (*LogFormat)(nil)
	_ caddy.ConfiguresFormatterDefault = (*LogFormat)(nil)
	_ zapcore.Encoder                  = (*LogFormat)(nil)
)
