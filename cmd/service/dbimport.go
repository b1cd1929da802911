package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/duckwire"
)

func dbImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import PATH…", Short: "Imports files, or the files of a folder, as tables", Args: cli.Args(cobra.MinimumNArgs(1)),
		Long: `Imports files as tables: CSV (.csv, .tsv), JSON (.json, .jsonl, .ndjson), Parquet (.parquet) and
logs (.log, .txt), the text forms also compressed (.gz). A table is named after its file. Of a folder
the files with these endings are imported, not those of its subfolders. A file is imported whole or
not at all; those before it stay imported.`,
		Example: `  service db import sales.csv
  service db import logs/ --table logs --append`,
	}
	var o importOptions
	cmd.Flags().StringVar(&o.table, "table", "", "name of the table; that of all files when there are several")
	cmd.Flags().StringVar(&o.format, "format", "", "csv, json, parquet or lines; by the file's ending when not given")
	cmd.Flags().BoolVar(&o.add, "append", false, "add to tables that exist")
	cmd.Flags().BoolVar(&o.replace, "replace", false, "replace tables that exist")
	cmd.Flags().BoolVar(&o.headless, "no-header", false, "the first line of a CSV file is data")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	var db dbOptions
	db.flags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		jobs, skipped, err := o.plan(args)
		if err != nil {
			return err
		}
		for _, path := range skipped {
			fmt.Fprintf(cmd.ErrOrStderr(), "Skipped %s: its ending is not known. Name the file itself, with --format.\n", path)
		}
		return db.run(cmd, func(ctx context.Context, d *analytics.DB, r recorder) error {
			done, err := importAll(ctx, cmd, d, r, jobs, *asJSON)
			if len(done) > 0 { // whoever imports wants agents to see it at once
				err = errors.Join(err, d.Publish(ctx))
			}
			if *asJSON {
				err = errors.Join(cli.JSON(cmd.OutOrStdout(), done), err)
			}
			return err
		})
	})
	cli.Group(cmd)
	return cmd
}

type importOptions struct {
	table, format          string
	add, replace, headless bool
}

// job is a file that will be imported.
type job struct {
	path string
	file analytics.File
}

// input is the job as it is recorded.
func (j job) input() any {
	path, err := filepath.Abs(j.path)
	if err != nil {
		path = j.path
	}
	return map[string]any{"file": path, "table": j.file.Table, "format": j.file.Format, "mode": j.file.Mode}
}

type imported struct {
	File string `json:"file"`
	duckwire.Imported
}

func importAll(ctx context.Context, cmd *cobra.Command, d *analytics.DB, r recorder, jobs []job, quiet bool) (all []imported, err error) {
	all = []imported{}
	for _, j := range jobs {
		var done duckwire.Imported
		err := r.record(ctx, app.ActionImport, j.input(), func() (any, error) {
			var err error
			done, err = importOne(ctx, d, j)
			return map[string]any{"table": done.Table, "rows": done.Rows}, err
		})
		if err != nil {
			return all, err
		}
		all = append(all, imported{j.path, done})
		if !quiet {
			fmt.Fprintf(cmd.OutOrStdout(), "Imported %s from %s into the table %s.\n", counted(done.Rows, "row"), j.path, done.Table)
		}
	}
	return all, nil
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// importOne sends a file to the writer: this process opens it, with the rights of who called it.
func importOne(ctx context.Context, d *analytics.DB, j job) (done duckwire.Imported, err error) {
	f, err := os.Open(j.path)
	if err != nil {
		return done, err
	}
	defer f.Close()
	return d.Import(ctx, j.file, f)
}

// plan finds the files and checks what can be checked before the first one is imported.
func (o importOptions) plan(paths []string) (jobs []job, skipped []string, err error) {
	if o.add && o.replace {
		return nil, nil, cli.Usagef("--append and --replace exclude each other")
	}
	switch o.format {
	case "", duckwire.FormatCSV, duckwire.FormatJSON, duckwire.FormatParquet, duckwire.FormatLines:
	default:
		return nil, nil, cli.Usagef("--format: %q is not one of csv, json, parquet and lines", o.format)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, nil, err
		case info.IsDir():
			found, left, err := o.folder(path)
			if err != nil {
				return nil, nil, err
			}
			if len(found) == 0 {
				return nil, nil, fmt.Errorf("%s: there is no file to import: the endings are .csv, .tsv, .json, .jsonl, .ndjson, .parquet, .log and .txt", path)
			}
			jobs, skipped = append(jobs, found...), append(skipped, left...)
		default:
			j, ok := o.job(path)
			if !ok {
				return nil, nil, cli.Usagef("%s: its ending does not say what is in it: give --format csv, json, parquet or lines", path)
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, skipped, o.checkTables(jobs)
}

// folder lists the files of a folder.
func (o importOptions) folder(dir string) (jobs []job, skipped []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if j, ok := o.job(path); ok {
			jobs = append(jobs, j)
		} else {
			skipped = append(skipped, path)
		}
	}
	return jobs, skipped, nil
}

// endings are the endings of names with the forms of files that they stand for.
var endings = map[string]string{
	".csv": duckwire.FormatCSV, ".tsv": duckwire.FormatCSV,
	".json": duckwire.FormatJSON, ".jsonl": duckwire.FormatJSON, ".ndjson": duckwire.FormatJSON,
	".parquet": duckwire.FormatParquet,
	".log":     duckwire.FormatLines, ".txt": duckwire.FormatLines,
}

// job is what becomes of one file; false when nobody says what is in it.
func (o importOptions) job(path string) (job, bool) {
	base := filepath.Base(path)
	stem := base
	if ending := filepath.Ext(stem); strings.EqualFold(ending, ".gz") {
		stem = strings.TrimSuffix(stem, ending)
	}
	ending := filepath.Ext(stem)
	stem = strings.TrimSuffix(stem, ending)
	f := analytics.File{Name: path, Table: o.table, Format: o.format, Mode: duckwire.ModeCreate, Headless: o.headless}
	if f.Format == "" {
		f.Format = endings[strings.ToLower(ending)]
	}
	if f.Table == "" {
		f.Table = asTable(stem)
	}
	switch {
	case o.add:
		f.Mode = duckwire.ModeAppend
	case o.replace:
		f.Mode = duckwire.ModeReplace
	}
	return job{path, f}, f.Format != ""
}

// asTable makes the name of a table of the name of a file.
func asTable(stem string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(stem) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	name := b.String()
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "t_" + name
	}
	return name[:min(len(name), 63)]
}

// checkTables keeps two files from becoming one table by accident. With --table they are meant to: the
// files after the first are appended.
func (o importOptions) checkTables(jobs []job) error {
	from := map[string]string{}
	for i, j := range jobs {
		first, twice := from[strings.ToLower(j.file.Table)]
		switch {
		case !twice:
			from[strings.ToLower(j.file.Table)] = j.path
		case o.table != "":
			jobs[i].file.Mode = duckwire.ModeAppend
		case !o.add:
			return fmt.Errorf("%s and %s would both be the table %s: import them one by one with --table, or both with --append", first, j.path, j.file.Table)
		}
	}
	return nil
}
