package main

import (
	"fmt"
	"time"
)

// The aims of docs/performance.md.
const (
	aimStages      = 0.75
	aimAdded       = 300 * time.Microsecond
	aimFirstEvent  = 200 * time.Microsecond
	aimSSE         = 0.85
	aimAuth        = 0.85
	aimLogins      = 2.0
	aimPosts       = 3.0
	aimRuns        = 1000.0
	aimFirst       = 3 * time.Millisecond
	aimAudit       = 0.8
	aimSandbox     = 10 * time.Millisecond
	aimPeer        = 2.0
	aimFirstOfPeer = 0.1
	aimBomb        = 200 * time.Millisecond
	aimReady       = time.Second
	aimQuery       = 60 * time.Millisecond
	aimSnapshot    = 2500 * time.Millisecond
	aimIdle        = 80 << 20
	aimStream      = 1.5
	aimWorst       = 50e6
	aimMedian      = 100e6
	manyRuns       = 50
	streamPeers    = 2 // waiters come in pairs: bare, ours
	bytesPerMiB    = 1 << 20
	bytesPerKiB    = 1 << 10
	oneClient      = 1
	burstTraffic   = "sse-burst"
)

// judge holds the figures against the aims.
func (r *report) judge() {
	for _, s := range r.Stages {
		switch {
		case s.Shape == burstTraffic: // a worst case for comparison, nobody's aim
		case s.Events > 0:
			r.atLeast(fmt.Sprintf("event streams at %d: events/s of bare Caddy's", s.Clients), aimSSE, s.Ratio)
			if s.Clients == oneClient {
				r.within("event streams at 1: added to the first event", aimFirstEvent, s.Stages.First-s.Bare.First)
			}
		default:
			r.atLeast(fmt.Sprintf("JSON at %d: throughput of bare Caddy's", s.Clients), aimStages, s.Ratio)
			// With more clients than cores the median is the queue, which is throughput again.
			if s.Clients == oneClient {
				r.within("JSON at 1: added to the median", aimAdded, s.AddedP50)
			}
		}
	}
	for _, f := range r.Auth {
		r.atLeast(fmt.Sprintf("svc_auth with a %s at %d: throughput of bare Caddy's", f.Credential, f.Clients), aimAuth, f.Ratio)
	}
	for _, f := range r.Logins {
		ratio := float64(f.Busy.P99) / float64(f.Quiet.P99)
		r.add(fmt.Sprintf("token requests' p99 while %d log in, of the quiet one's (%s)", manyLogins, f.when()), fmt.Sprintf("≤ %.1f", aimLogins), fmt.Sprintf("%.2f", ratio), ratio <= aimLogins)
	}
	for _, f := range r.Posts {
		ratio := float64(f.Busy.P99) / float64(f.Quiet.P99)
		r.add(fmt.Sprintf("other requests' p99 while %d posts of %s are scanned, of the quiet one's", manyPosts, f.Content), fmt.Sprintf("≤ %.1f", aimPosts), fmt.Sprintf("%.2f", ratio), ratio <= aimPosts)
	}
	for _, f := range r.Runs {
		switch {
		case f.Child: // a figure of its own
		case f.Clients == manyRuns:
			r.add(fmt.Sprintf("runs (%s) at %d: runs/s", f.Name, f.Clients), fmt.Sprintf("≥ %.0f", aimRuns), fmt.Sprintf("%.0f", f.Rate), f.Rate >= aimRuns)
		case f.Clients == oneClient:
			r.within(fmt.Sprintf("runs (%s) at 1: first event, median", f.Name), aimFirst, f.First)
		}
	}
	for _, f := range r.AgentServer {
		if f.Aim > 0 {
			r.atLeast(fmt.Sprintf("%s, at %d: throughput of the reference server's", f.Task, f.Clients), f.Aim, f.Ratio)
		}
		if f.Task == tasks[0].name {
			ratio := float64(f.Stages.First) / float64(f.Bare.First)
			r.add(fmt.Sprintf("%s, at %d: time to the first event, of the reference server's", f.Task, f.Clients), fmt.Sprintf("≤ %.1f", aimFirstOfPeer), fmt.Sprintf("%.2f", ratio), ratio <= aimFirstOfPeer)
		}
	}
	if r.Audit != nil {
		r.atLeast("audit log: events/s of bare SQLite's", aimAudit, r.Audit.Ratio)
	}
	if f := r.Sandbox; f != nil {
		r.within("sandbox: start to exit of true, median", aimSandbox, f.P50)
		r.add("… of bubblewrap's", fmt.Sprintf("≤ %.1f", aimPeer), fmt.Sprintf("%.2f", f.Ratio), f.Ratio <= aimPeer)
		r.add(fmt.Sprintf("… %d at once: failed", atOnce), "0", fmt.Sprint(f.Failed), f.Failed == 0)
		r.within("… end of a fork bomb", aimBomb, f.Bomb)
	}
	if d := r.Database; d != nil {
		r.within("query_database: a small aggregate", aimQuery, d.Query)
		r.within(fmt.Sprintf("analytical database: snapshot of %d rows", d.Rows), aimSnapshot, d.Snapshot)
	}
	if rates, worst := textRates(r.Contents); len(rates) > 0 {
		r.add("scanning contents, MB/s, the worst kind of text: "+worst, fmt.Sprintf("≥ %.0f", aimWorst/1e6), fmt.Sprintf("%.0f", rates[0]/1e6), rates[0] >= aimWorst)
		r.add("scanning contents, MB/s, the median kind", fmt.Sprintf("≥ %.0f", aimMedian/1e6), fmt.Sprintf("%.0f", median(rates)/1e6), median(rates) >= aimMedian)
	}
	if s := r.Start; s != nil {
		r.within("web start: ready, slowest", aimReady, s.Slowest)
		r.add("idle: resident MiB", fmt.Sprintf("≤ %d", aimIdle/bytesPerMiB), mib(s.Idle.Resident), s.Idle.Resident <= aimIdle)
	}
	for i := 0; i+1 < len(r.Streams); i += streamPeers {
		bare, ours := r.Streams[i], r.Streams[i+1]
		ratio := float64(ours.Loaded.Resident) / float64(bare.Loaded.Resident)
		r.add(fmt.Sprintf("memory of a waiting stream, %s, of the bare one's", ours.Name), fmt.Sprintf("≤ %.1f", aimStream), fmt.Sprintf("%.2f", ratio), ratio <= aimStream)
	}
}

func (r *report) add(name, want, got string, met bool) {
	r.Aims = append(r.Aims, aim{Name: name, Want: want, Got: got, Met: met, Rough: r.Rounds == 1})
}

func (r *report) atLeast(name string, want, got float64) {
	r.add(name, fmt.Sprintf("≥ %.2g", want), fmt.Sprintf("%.2f", got), got >= want)
}

func (r *report) within(name string, want, got time.Duration) {
	r.add(name, "≤ "+ms(want)+" ms", ms(got)+" ms", got <= want)
}
