package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/syslog"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/certpool"
	"github.com/svc-gateway/svc/internal/disk"
	"github.com/svc-gateway/svc/internal/duckwire"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "syslog", Short: "Receives log messages of devices and programs",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "syslog"
			cli.Group(cmd, syslogStartCommand())
		},
	})
}

// syslogOptions are the flags of syslog start.
type syslogOptions struct {
	udp, tcp, tls, from []string
	cert, key, clientCA string
	table, keep         string
	certificate         *tls.Config
	senders             []netip.Prefix
	keepFor             time.Duration
}

func syslogStartCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "start", Short: "Receives log messages until it is stopped", Args: cli.Args(cobra.NoArgs),
		Long: `Receives log messages (RFC 5424 and RFC 3164) and puts them into a table of the analytical database,
which agents can query. It stays in the foreground until SIGINT or SIGTERM. The service may run or not.

Without --udp, --tcp and --tls it listens on UDP and TCP, port 5514. Anybody who reaches that port may
send, unless --from says who may.`,
		Example: `  service syslog start --udp :5514 --tcp :5514 --from 10.0.0.0/8
  service syslog start --tls :6514 --cert server.pem --key server.key --client-ca devices.pem
  service db query "select received, host, level, text from syslog where severity <= 3 order by received desc limit 20"`,
	}
	var o syslogOptions
	flags := cmd.Flags()
	flags.StringArrayVar(&o.udp, "udp", nil, "address to listen on for datagrams; may be repeated")
	flags.StringArrayVar(&o.tcp, "tcp", nil, "address to listen on for streams; may be repeated")
	flags.StringArrayVar(&o.tls, "tls", nil, "address to listen on for streams in TLS; may be repeated")
	flags.StringVar(&o.cert, "cert", "", "PEM file with the certificate for --tls")
	flags.StringVar(&o.key, "key", "", "PEM file with its key")
	flags.StringVar(&o.clientCA, "client-ca", "", "PEM file with the authorities whose certificates senders must have")
	flags.StringArrayVar(&o.from, "from", nil, "address or network that may send, such as 10.0.0.0/8; may be repeated")
	flags.StringVar(&o.table, "table", "syslog", "table for the messages")
	flags.StringVar(&o.keep, "keep", "30d", "how long messages are kept: 12h or 30d; 0 for ever")
	asJSON := flags.Bool("json", false, "print JSON documents, one a line")
	var db dbOptions
	db.flags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		if err := o.check(); err != nil {
			return err
		}
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		return db.run(cmd, func(ctx context.Context, d *analytics.DB, r recorder) error {
			table := messageTable{d}
			if _, err := table.AddMessages(ctx, o.table, 0, strings.NewReader("")); err != nil { // makes it, or says why not
				return err
			}
			space := disk.NewWatch(home.Analytics(), 0)
			receiver, err := syslog.Listen(ctx, syslog.Config{
				UDP: o.udp, TCP: o.tcp, TLS: o.tls, Certificate: o.certificate, From: o.senders, Table: o.table, Keep: o.keepFor,
				Database: table, Low: func() bool { return space.Look().Low }, Log: caddy.Log().Named("syslog"),
			})
			if err != nil {
				return err
			}
			return r.record(ctx, app.ActionReceive, o.input(receiver), func() (any, error) {
				for _, a := range receiver.Addresses() {
					printListening(cmd.OutOrStdout(), a, *asJSON)
				}
				totals := receiver.Serve(ctx)
				return totals, printTotals(cmd.OutOrStdout(), totals, *asJSON)
			})
		})
	})
	cli.Group(cmd)
	return cmd
}

// messageTable starts a writer where the service's has gone since.
type messageTable struct{ db *analytics.DB }

func (t messageTable) AddMessages(ctx context.Context, table string, keep time.Duration, lines io.Reader) (duckwire.Added, error) {
	if err := t.db.Use(ctx); err != nil {
		return duckwire.Added{}, err
	}
	return t.db.AddMessages(ctx, table, keep, lines)
}

// check checks what can be checked before anything is opened.
func (o *syslogOptions) check() error {
	if len(o.udp)+len(o.tcp)+len(o.tls) == 0 {
		o.udp, o.tcp = []string{":5514"}, []string{":5514"}
	}
	for flag, addresses := range map[string][]string{"--udp": o.udp, "--tcp": o.tcp, "--tls": o.tls} {
		for _, a := range addresses {
			if _, _, err := net.SplitHostPort(a); err != nil {
				return cli.Usagef("%s: %q is not an address: write host:port or :port", flag, a)
			}
		}
	}
	if !duckwire.TableName.MatchString(o.table) {
		return cli.Usagef("--table: %q must be letters, digits and _, at most 63, and not begin with a digit", o.table)
	}
	if err := o.checkKeep(); err != nil {
		return err
	}
	if err := o.checkFrom(); err != nil {
		return err
	}
	return o.checkTLS()
}

func (o *syslogOptions) checkKeep() error {
	if o.keep == "0" {
		return nil
	}
	now := time.Now()
	since, err := cli.ParseTime(o.keep, now)
	if err != nil || now.Sub(since) < time.Minute {
		return cli.Usagef("--keep: %q is not a time of a minute or more: write 12h or 30d, or 0 to keep messages for ever", o.keep)
	}
	o.keepFor = now.Sub(since)
	return nil
}

func (o *syslogOptions) checkFrom() error {
	for _, s := range o.from {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			addr, failed := netip.ParseAddr(s)
			if failed != nil {
				return cli.Usagef("--from: %q is neither an address nor a network such as 10.0.0.0/8", s)
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		o.senders = append(o.senders, p.Masked())
	}
	return nil
}

func (o *syslogOptions) checkTLS() error {
	switch {
	case len(o.tls) == 0 && (o.cert != "" || o.key != "" || o.clientCA != ""):
		return cli.Usagef("--cert, --key and --client-ca are for --tls, which is not given")
	case len(o.tls) == 0:
		return nil
	case o.cert == "" || o.key == "":
		return cli.Usagef("--tls needs --cert and --key")
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return fmt.Errorf("--cert, --key: %w", err)
	}
	o.certificate = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if o.clientCA != "" {
		if o.certificate.ClientCAs, err = certpool.Read(o.clientCA); err != nil {
			return fmt.Errorf("--client-ca: %w", err)
		}
		o.certificate.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return nil
}

// input is what is recorded of a receiver.
func (o *syslogOptions) input(r *syslog.Receiver) any {
	listens := map[string][]string{}
	for _, a := range r.Addresses() {
		listens[a.Transport] = append(listens[a.Transport], a.Addr)
	}
	return map[string]any{"listens": listens, "from": o.from, "table": o.table, "keep": o.keep}
}

func printListening(w io.Writer, a syslog.Address, asJSON bool) {
	if asJSON {
		_ = cli.JSON(w, map[string]string{"transport": a.Transport, "address": a.Addr})
		return
	}
	fmt.Fprintf(w, "Listening for syslog on %s %s\n", a.Transport, a.Addr)
}

// printTotals says what became of the messages.
func printTotals(w io.Writer, t syslog.Totals, asJSON bool) error {
	if asJSON {
		return cli.JSON(w, t)
	}
	said := []string{fmt.Sprintf("%s received, %d stored", counted(t.Received, "message"), t.Stored)}
	for _, c := range []struct {
		n    int64
		what string
	}{
		{t.Dropped, "dropped"},
		{t.Lost, "lost in the kernel"},
		{t.Unknown, "of no known form"},
		{t.Truncated, "truncated"},
		{t.Refused, "refused"},
		{t.Broken, "streams broken off"},
	} {
		if c.n > 0 {
			said = append(said, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	_, err := fmt.Fprintln(w, strings.Join(said, ", ")+".")
	return err
}
