package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/inventory"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "inventory", Short: "Says which network devices there are",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "inventory"
			cmd.Long = `Reads lists of network devices from files into the table inventory of the analytical database, where
agents find them. The service may run or not.`
			cli.Group(cmd, inventoryImportCommand(), inventoryCheckCommand(), inventoryDiffCommand(), inventoryListCommand())
		},
	})
}

// inventoryFiles is how the files of the commands look.
const inventoryFiles = `Files are YAML or JSON (a list of devices with the fields name, address, port, platform, site, role,
status, model, serial and groups), CSV with these columns, or what NetBox gives: the answer of
/api/dcim/devices/?limit=0, or an export as CSV.`

func inventoryImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE…", Short: "Replaces the inventory by what files hold", Args: cli.Args(cobra.MinimumNArgs(1)),
		Long: "Replaces the inventory by what files hold: all of them or none. " + inventoryFiles,
		Example: `  service inventory import devices.yaml
  curl -H "Authorization: Token $TOKEN" 'https://netbox.example.com/api/dcim/devices/?limit=0' > netbox.json && service inventory import netbox.json`,
	}
	var o dbOptions
	o.flags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		devices, err := readInventory(cmd, args)
		if err != nil {
			return err
		}
		return o.run(cmd, func(ctx context.Context, d *analytics.DB, r recorder) error {
			table := inventory.NewTable(d)
			changes, err := compared(ctx, table, devices)
			if err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "The inventory so far is not compared: %v\n", err)
			}
			err = r.record(ctx, app.ActionImport, map[string]any{"files": args, "table": inventory.TableName, "mode": "replace"}, func() (any, error) {
				return map[string]any{"table": inventory.TableName, "rows": len(devices)}, table.Import(ctx, devices)
			})
			if err != nil {
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), changes)
			return nil
		})
	})
	return cmd
}

func inventoryCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "check FILE…", Short: "Reads files and changes nothing", Args: cli.Args(cobra.MinimumNArgs(1)),
		Long: "Reads files as import does, and changes nothing. " + inventoryFiles,
	}
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		devices, err := readInventory(cmd, args)
		if err != nil {
			return err
		}
		return printInventory(cmd.OutOrStdout(), devices)
	})
	return cmd
}

func inventoryDiffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff FILE…", Short: "Says what an import of files would change, and changes nothing", Args: cli.Args(cobra.MinimumNArgs(1)),
		Long: "Says which devices an import of files would add, change and remove, each in a line, and changes nothing. " + inventoryFiles,
	}
	var o dbOptions
	o.flags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		devices, err := readInventory(cmd, args)
		if err != nil {
			return err
		}
		return o.run(cmd, func(ctx context.Context, d *analytics.DB, _ recorder) error {
			changes, err := compared(ctx, inventory.NewTable(d), devices)
			if err == nil {
				fmt.Fprint(cmd.OutOrStdout(), changes)
			}
			return err
		})
	})
	return cmd
}

// compared says what devices change in the inventory. With an error, which says why that so far cannot be read, it
// says what they change in none.
func compared(ctx context.Context, table *inventory.Table, devices inventory.List) (changes string, err error) {
	old, err := table.Load(ctx)
	if errors.Is(err, inventory.ErrEmpty) {
		err = nil
	}
	return inventory.Compare(old, devices), err
}

func inventoryListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [GROUP]", Short: "Lists the devices, or those of a group", Args: cli.Args(cobra.MaximumNArgs(1)),
		Long: "Lists the devices, or those of a group: its name, or site:NAME, role:NAME or platform:NAME.",
	}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	var o dbOptions
	o.flags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		return o.run(cmd, func(ctx context.Context, d *analytics.DB, _ recorder) error {
			list, err := inventory.NewTable(d).Load(ctx)
			if err == nil && len(args) == 1 {
				list, err = list.Group(args[0])
			}
			switch {
			case err != nil:
				return err
			case *asJSON:
				return cli.JSON(cmd.OutOrStdout(), list)
			}
			return printInventory(cmd.OutOrStdout(), list)
		})
	})
	return cmd
}

// readInventory reads files as one inventory.
func readInventory(cmd *cobra.Command, paths []string) (all []inventory.Device, err error) {
	from := map[string]string{}
	for _, path := range paths {
		data, err := readBounded(path, inventory.MaxSize)
		if err != nil {
			return nil, err
		}
		devices, skipped, err := inventory.Read(path, data)
		if err != nil {
			return nil, err
		}
		for _, s := range skipped {
			fmt.Fprintf(cmd.ErrOrStderr(), "Skipped %s:%d: %s.\n", path, s.Line, s.Why)
		}
		for _, d := range devices {
			key := strings.ToLower(d.Name)
			if first, twice := from[key]; twice {
				return nil, fmt.Errorf("%s: name: %s stands in %s already: names are unique", path, d.Name, first)
			}
			from[key] = path
		}
		all = append(all, devices...)
	}
	return all, nil
}

// readBounded reads a file, one byte more than may be at most.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

func printInventory(w io.Writer, list []inventory.Device) error {
	rows := make([][]string, len(list))
	for i, d := range list {
		rows[i] = []string{d.Name, d.Address, strconv.Itoa(d.Port), d.Platform, d.Site, d.Role, d.Status, strings.Join(d.Groups, " ")}
	}
	return cli.Table(w, []string{"name", "address", "port", "platform", "site", "role", "status", "groups"}, rows)
}
