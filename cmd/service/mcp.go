package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/mcp"
	agentsmodule "github.com/svc-gateway/svc/caddymodule/agents"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "mcp", Short: "Lists the tools of MCP servers and approves them",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "mcp"
			cmd.Long = `Lists the MCP servers of the settings with their tools, and approves tools. Agents have a tool when it was
approved and is still what was approved. The service must be running, and the commands be run as root or
as the service's user.`
			cli.Group(cmd, mcpListCommand(), mcpShowCommand(), mcpApproveCommand())
		},
	})
}

func mcpListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "Lists servers and tools", Args: cli.Args(cobra.NoArgs)}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		all, err := mcpStatus(cmd)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.JSON(cmd.OutOrStdout(), all)
		}
		var rows [][]string
		for _, s := range all {
			rows = append(rows, []string{s.Name, "", strings.TrimSpace(s.Status + " " + s.Reason), "", ask.Reveal(s.Where)})
			for _, t := range s.Tools {
				rows = append(rows, []string{s.Name, t.Tool, t.State, t.Action, ask.Reveal(firstLine(t))})
			}
		}
		if err := cli.Table(cmd.OutOrStdout(), []string{"server", "tool", "state", "action", ""}, rows); err != nil {
			return err
		}
		for _, s := range all {
			if s.Digest != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "\nTo look at the tools of %[1]s and approve them:\n  service mcp show %[1]s\n  service mcp approve %[1]s %[2]s\n", s.Name, s.Digest)
			}
		}
		return nil
	})
	return cmd
}

// firstLine is the beginning of what there is to say of a tool.
func firstLine(t mcp.ToolStatus) string {
	text := t.Problem
	if text == "" {
		text, _, _ = strings.Cut(t.Description, "\n")
	}
	if r := []rune(text); len(r) > 80 {
		text = string(r[:79]) + "…"
	}
	return text
}

func mcpShowCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "show SERVER", Short: "Shows all that models are told of the tools of a server", Args: cli.Args(cobra.ExactArgs(1))}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		all, err := mcpStatus(cmd)
		if err != nil {
			return err
		}
		for _, s := range all {
			if s.Name != args[0] {
				continue
			}
			if *asJSON {
				return cli.JSON(cmd.OutOrStdout(), s)
			}
			return showServer(cmd.OutOrStdout(), s)
		}
		return fmt.Errorf("there is no MCP server %s in the settings", args[0])
	})
	return cmd
}

func showServer(w io.Writer, s mcp.Status) error {
	fmt.Fprintf(w, "%s  %s since %s, %s\n", s.Name, strings.TrimSpace(s.Status+" "+s.Reason), s.Since.Local().Format(time.DateTime), ask.Reveal(s.Where))
	for _, t := range s.Tools {
		fmt.Fprintf(w, "\n%s  %s, action %s\n", ask.Reveal(t.Name), t.State, t.Action)
		if t.Problem != "" {
			fmt.Fprintf(w, "  refused: %s\n", ask.Reveal(t.Problem))
		}
		if t.Findings > 0 {
			fmt.Fprintf(w, "  %d places read like an injection\n", t.Findings)
		}
		if t.Was != nil {
			changed(w, "description", t.Was.Description, t.Description)
			changed(w, "schema", t.Was.Schema, t.Schema)
			continue
		}
		paragraph(w, "  ", t.Description)
		paragraph(w, "  ", t.Schema)
	}
	if s.Digest != "" {
		fmt.Fprintf(w, "\nTo approve: service mcp approve %s %s\n", s.Name, s.Digest)
	}
	return nil
}

// changed shows what was approved, and what would be approved now.
func changed(w io.Writer, what, was, is string) {
	if was == is {
		paragraph(w, "    ", is)
		return
	}
	fmt.Fprintf(w, "  %s changed:\n", what)
	paragraph(w, "  - ", was)
	paragraph(w, "  + ", is)
}

func paragraph(w io.Writer, before, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "%s%s\n", before, ask.Reveal(strings.TrimRight(line, "\n")))
	}
}

func mcpApproveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve SERVER DIGEST", Short: "Has the tools of a server used as they are now", Args: cli.Args(cobra.ExactArgs(2)),
		Long: `Has the tools of a server used as they are now. DIGEST is that of the list that you have looked at, as
list and show print it: if the server has changed a tool since, nothing is approved. Tools that read like
an injection are left out.`,
		Example: "  service mcp approve files 1b2c…  # all 64 digits, as list prints them",
	}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		if err := wholeDigest(cmd, args[0], args[1]); err != nil {
			return err
		}
		var s mcp.Status
		path := "/mcp-servers/" + url.PathEscape(args[0]) + "/approve"
		if err := cli.NewClient(home).Do(cmd.Context(), http.MethodPost, path, agentsmodule.MCPApproval{Digest: args[1]}, &s); err != nil {
			return err
		}
		if *asJSON {
			return cli.JSON(cmd.OutOrStdout(), s)
		}
		n := 0
		for _, t := range s.Tools {
			if t.State == mcp.StateApproved {
				n++
			}
		}
		are := "are"
		if n == 1 {
			are = "is"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s of %s %s approved\n", counted(int64(n), "tool"), s.Name, are)
		return nil
	})
	return cmd
}

// wholeDigest refuses a digest that is not whole. A part of one is not taken: a server finds two lists that
// begin alike, and shows one of them.
func wholeDigest(cmd *cobra.Command, server, looked string) error {
	if len(looked) == hex.EncodedLen(sha256.Size) {
		return nil
	}
	all, err := mcpStatus(cmd)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Name == server && s.Digest != "" {
			return fmt.Errorf("%q is no whole digest, nothing is approved: look at the tools with service mcp show %[2]s, and approve them with service mcp approve %[2]s %[3]s", looked, server, s.Digest)
		}
	}
	return fmt.Errorf("%q is no whole digest, which has 64 digits: service mcp list prints it where there is something to approve", looked)
}

// mcpStatus asks the service for its MCP servers.
func mcpStatus(cmd *cobra.Command) (all []mcp.Status, err error) {
	home, err := app.LocateHome()
	if err != nil {
		return nil, err
	}
	return all, cli.NewClient(home).Do(cmd.Context(), http.MethodGet, "/mcp-servers", nil, &all)
}
