package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/inventory"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "device", Short: "Pins the host keys of network devices",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "device"
			cmd.Long = `Pins the host keys of the devices of the inventory. Agents log in to no device whose key nobody has pinned.`
			cli.Group(cmd, deviceTrustCommand())
		},
	})
}

func deviceTrustCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "trust NAME", Short: "Shows the host key of a device and pins it", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Asks a device of the inventory for its SSH host key, shows the fingerprint, and pins the key when you say
that it is the device's own: compare it with what its console says. With --fingerprint it is compared for you.`,
		Example: `  service device trust edge1
  service device trust edge1 --fingerprint SHA256:RYBd4l5v9Vh+CI9F3iV1Dh9GQ7zNC0aV6kF2mU4Yb7E`,
	}
	fingerprint := cmd.Flags().String("fingerprint", "", "pin the key without asking if it has this fingerprint, as SHA256:…")
	replace := cmd.Flags().Bool("replace", false, "pin the key in the place of another one: the device was replaced")
	var o dbOptions
	o.flags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		if *fingerprint != "" && !strings.HasPrefix(*fingerprint, "SHA256:") {
			return cli.Usagef("--fingerprint: %q does not begin with SHA256:", *fingerprint)
		}
		return o.run(cmd, func(ctx context.Context, db *analytics.DB, r recorder) error {
			list, err := inventory.NewTable(db).Load(ctx)
			if err != nil {
				return err
			}
			d, err := list.Device(args[0])
			if err != nil {
				return err
			}
			return trust(ctx, cmd, r, d, *fingerprint, *replace)
		})
	})
	return cmd
}

// trust pins the key of a device if a person or the fingerprint says that it is the device's.
func trust(ctx context.Context, cmd *cobra.Command, r recorder, d inventory.Device, fingerprint string, replace bool) error {
	keys := device.OpenKeys(r.home.KnownHosts())
	key, err := device.New(device.Config{Keys: keys, Legacy: true}).HostKey(ctx, d)
	if err != nil {
		return fmt.Errorf("asking %s for its host key: %w", d.Name, err)
	}
	shown := ssh.FingerprintSHA256(key)
	fmt.Fprintf(cmd.OutOrStdout(), "%s (%s) shows the host key %s %s\n", d.Name, d.Endpoint(), key.Type(), shown)
	err = keys.Check(d.Endpoint(), key)
	wrong := new(device.KeyError)
	switch {
	case err == nil:
		fmt.Fprintln(cmd.OutOrStdout(), "This key is pinned already.")
		return nil
	case !errors.As(err, &wrong):
		return err
	case len(wrong.Pinned) > 0 && !replace:
		return fmt.Errorf("another key is pinned for %s: %s. Was the device replaced? Then give --replace", d.Name, ssh.FingerprintSHA256(wrong.Pinned[0]))
	case fingerprint != "" && fingerprint != shown:
		return fmt.Errorf("this is not the key with the fingerprint %s: nothing is pinned", fingerprint)
	}
	if fingerprint == "" {
		fmt.Fprint(cmd.OutOrStdout(), "Is this the key that the device's own console shows? [y/N] ")
		answer, err := cli.Line(cmd.InOrStdin(), 100, "answer")
		if err != nil || strings.ToLower(answer) != "y" && strings.ToLower(answer) != "yes" {
			return errors.Join(errors.New("nothing is pinned"), err)
		}
	}
	err = r.record(ctx, app.ActionTrust, map[string]any{"device": d.Name, "address": d.Endpoint(), "key": key.Type(), "fingerprint": shown, "replaces": len(wrong.Pinned) > 0},
		func() (any, error) { return nil, keys.Pin(d.Endpoint(), key) })
	if err == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "The key of %s is pinned.\n", d.Name)
	}
	return err
}
