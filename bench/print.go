package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// print writes the report for people.
func (r *report) print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\t\n", args...) }
	title := func(text string) {
		_ = w.Flush() // the last one tells
		fmt.Fprintf(w, "\n%s\n\n", text)
	}
	fmt.Fprintf(w, "%s, %s, plan %s, medians of %d round(s)\n", r.When.Format(time.RFC3339), r.Machine, r.Plan, r.Rounds)
	if len(r.Stages) > 0 {
		title("Stages: (a) bare reverse_proxy, (b) auth, scan, redact and stream in front of it; times in ms, cpu in µs a response")
		line("traffic\tclients\ta /s\tb /s\tb/a\ta p50\tb p50\tadded\ta p99\tb p99\ta first\tb first\ta cpu\tb cpu")
		for _, s := range r.Stages {
			a, b := s.Bare, s.Stages
			line("%s\t%d\t%.0f\t%.0f\t%.2f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%.0f", s.Shape, s.Clients, a.Rate, b.Rate, s.Ratio,
				ms(a.P50), ms(b.P50), ms(s.AddedP50), ms(a.P99), ms(b.P99), ms(a.First), ms(b.First), us(a.CPU), us(b.CPU))
		}
		for _, s := range r.Stages {
			if s.Events > 0 {
				n := float64(s.Events)
				line("%s\t%d\t%.0f\t%.0f\tevents/s", s.Shape, s.Clients, s.Bare.Rate*n, s.Stages.Rate*n)
			}
		}
	}
	if f := r.Portkey; f != nil {
		title("Chat completions: (a) bare reverse_proxy, (b) all stages, (c) Portkey's gateway; times in ms, cpu in µs a response, memory in MiB")
		line("traffic\tclients\ta /s\tb /s\tc /s\tb/a\tc/a\ta first\tb added\tc added\ta p50\tb added\tc added\ta p99\tb p99\tc p99\ta cpu\tb cpu\tc cpu")
		for _, row := range f.Rows {
			a, b, c := row.Samples[0], row.Samples[1], row.Samples[2]
			line("%s\t%d\t%.0f\t%.0f\t%.0f\t%.2f\t%.2f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%.0f\t%.0f", row.Shape, row.Clients,
				a.Rate, b.Rate, c.Rate, row.Ratio[1], row.Ratio[2], ms(a.First), ms(row.AddedFirst[1]), ms(row.AddedFirst[2]),
				ms(a.P50), ms(row.AddedP50[1]), ms(row.AddedP50[2]), ms(a.P99), ms(b.P99), ms(c.P99), us(a.CPU), us(b.CPU), us(c.CPU))
		}
		line("resident memory\ta\tb\tc")
		for i, m := range [][3]memory{f.Idle, f.Loaded} {
			line("%s\t%s\t%s\t%s", []string{"idle", "after the load"}[i], mib(m[0].Resident), mib(m[1].Resident), mib(m[2].Resident))
		}
	}
	if len(r.Auth) > 0 {
		title(fmt.Sprintf("svc_auth: (a) bare reverse_proxy, (b) svc_auth in front of it, %d users, %d tokens; times in ms, cpu in µs a response", storeUsers, storeUsers*storeTokensEach))
		line("credential\tclients\ta /s\tb /s\tb/a\ta p50\tb p50\tadded\ta p99\tb p99\ta cpu\tb cpu")
		for _, f := range r.Auth {
			a, b := f.Bare, f.Stages
			line("%s\t%d\t%.0f\t%.0f\t%.2f\t%s\t%s\t%s\t%s\t%s\t%.0f\t%.0f", f.Credential, f.Clients, a.Rate, b.Rate, f.Ratio,
				ms(a.P50), ms(b.P50), ms(f.AddedP50), ms(a.P99), ms(b.P99), us(a.CPU), us(b.CPU))
		}
	}
	if len(r.Logins) > 0 {
		title(fmt.Sprintf("Requests with a token, one client, while %d people log in at once: nowhere, somewhere else, here through slapd; times in ms", manyLogins))
		line("logins\tquiet /s\telsewhere /s\there /s\tquiet p50\telsewhere p50\there p50\tquiet p99\telsewhere p99\there p99\tall in after\telsewhere")
		for _, f := range r.Logins {
			q, e, h := f.Quiet, f.Elsewhere, f.Busy
			line("%s\t%.0f\t%.0f\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", f.when(), q.Rate, e.Rate, h.Rate,
				ms(q.P50), ms(e.P50), ms(h.P50), ms(q.P99), ms(e.P99), ms(h.P99), ms(f.Took), ms(f.TookElsewhere))
		}
	}
	if len(r.Posts) > 0 {
		title(fmt.Sprintf("Requests with a token, one client, while %d posts are scanned; times in ms", manyPosts))
		line("posts of\tbytes each\tquiet /s\tbusy /s\tquiet p50\tbusy p50\tquiet p99\tbusy p99\tall answered after\tpassed\tto be sent later")
		for _, f := range r.Posts {
			q, y := f.Quiet, f.Busy
			line("%s\t%d\t%.0f\t%.0f\t%s\t%s\t%s\t%s\t%s\t%d\t%d", f.Content, f.Bytes, q.Rate, y.Rate, ms(q.P50), ms(y.P50), ms(q.P99), ms(y.P99), ms(f.Took), f.Passed, f.Refused)
		}
	}
	if len(r.Runs) > 0 {
		title("Runs with the demo model, audit durable; times in ms, cpu in µs a run")
		line("question\tclients\truns/s\tp50\tp99\tfirst p50\tfirst p99\tcpu")
		for _, f := range r.Runs {
			line("%s\t%d\t%.0f\t%s\t%s\t%s\t%s\t%.0f", f.Name, f.Clients, f.Rate, ms(f.P50), ms(f.P99), ms(f.First), ms(f.F99), us(f.CPU))
		}
		_ = w.Flush()
		fmt.Fprintf(w, "\n  in the audit log afterwards: %v\n", r.Recorded)
		for i, when := range []string{"before", "after"} {
			fmt.Fprintf(w, "  the disk's fsync of 4 KiB %s: p50 %s, p99 %s ms\n", when, ms(r.Sync[i].P50), ms(r.Sync[i].P99))
		}
	}
	if len(r.AgentServer) > 0 {
		title("Agent server protocol: (a) the reference development server with its ten workers, (b) the service; times in ms")
		line("task\tclients\ta /s\tb /s\tb/a\ta p50\tb p50\ta first\tb first")
		for _, f := range r.AgentServer {
			line("%s\t%d\t%.0f\t%.0f\t%.1f\t%s\t%s\t%s\t%s", f.Task, f.Clients, f.Bare.Rate, f.Stages.Rate, f.Ratio,
				ms(f.Bare.P50), ms(f.Stages.P50), ms(f.Bare.First), ms(f.Stages.First))
		}
	}
	if f := r.Sandbox; f != nil {
		title("Sandboxes, " + f.Mode + ", from the start to the exit of true, next to bubblewrap's; times in ms")
		line("p50\tp99\tbwrap p50\tbwrap p99\tratio\tin a row p50\t%d at once\tfailed\tfork bomb", atOnce)
		line("%s\t%s\t%s\t%s\t%.2f\t%s\t%s\t%d\t%s", ms(f.P50), ms(f.P99), ms(f.Peer50), ms(f.Peer99), f.Ratio, ms(f.Row), ms(f.AtOnce), f.Failed, ms(f.Bomb))
	}
	if r.Audit != nil {
		title("Audit log against a bare SQLite group commit, 50 writers, events/s")
		line("log\tbare\tratio")
		line("%.0f\t%.0f\t%.2f", r.Audit.Log, r.Audit.Bare, r.Audit.Ratio)
	}
	if d := r.Database; d != nil {
		title(fmt.Sprintf("Analytical database, %d rows, ms", d.Rows))
		line("import\tsnapshot\tslowest query meanwhile\tsmall aggregate")
		line("%s\t%s\t%s\t%s", ms(d.Import), ms(d.Snapshot), ms(d.SlowestRead), ms(d.Query))
	}
	if len(r.Contents) > 0 {
		title("Scanning kinds of content, one goroutine, the best of several scans")
		line("kind\tbytes\tMB/s\tallocations/KiB")
		for _, f := range r.Contents {
			line("%s\t%d\t%.0f\t%.2f", f.Kind, f.Bytes, f.Rate/1e6, f.Allocs)
		}
	}
	if s := r.Start; s != nil {
		title("Start, ms, and idle memory, MiB")
		line("new folder\tagain\tslowest\tresident\tnot of files")
		line("%s\t%s\t%s\t%s\t%s", ms(s.Fresh), ms(s.Again), ms(s.Slowest), mib(s.Idle.Resident), mib(s.Idle.Own))
	}
	if len(r.Streams) > 0 {
		title(fmt.Sprintf("Memory of one waiting stream of %d, KiB: resident, and after a collection resident and in use", r.Streams[0].Streams))
		line("kind\tresident\tcollected\tin use")
		for _, f := range r.Streams {
			line("%s\t%s\t%s\t%s", f.Name, kib(f.Loaded.Resident), kib(f.Collected.Resident), kib(f.Collected.Live))
		}
	}
	if f := r.Kept; f != nil {
		title(fmt.Sprintf("Resident memory around %d threads with a run each, made in %s, MiB", f.Threads, f.Took.Round(time.Second)))
		line("before\tafter\tidle")
		line("%s\t%s\t%s", mib(f.Before.Resident), mib(f.After.Resident), mib(f.Idle.Resident))
	}
	title("Aims")
	line("figure\taim\treached\t")
	for _, a := range r.Aims {
		verdict := map[bool]string{true: "met", false: "MISSED"}[a.Met]
		line("%s\t%s\t%s\t%s", a.Name, a.Want, a.Got, verdict)
	}
	return w.Flush()
}

func (f loginFigures) when() string {
	if f.First {
		return "first"
	}
	return "again"
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }
func us(d time.Duration) float64 {
	return float64(d) / float64(time.Microsecond)
}
func mib(n int64) string { return fmt.Sprintf("%.1f", float64(n)/bytesPerMiB) }
func kib(n int64) string { return fmt.Sprintf("%.1f", float64(n)/bytesPerKiB) }
