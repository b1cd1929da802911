package main

import (
	"context"
	"time"
)

// shape is a kind of traffic through the stages.
type shape struct {
	name    string
	path    string
	body    []byte // of the response
	first   int    // bytes until the first event is complete
	events  int    // of a response; 0: it is no event stream
	clients []int
}

func (b *bench) shapes() []shape {
	levels := []int{1, 16, 256}
	all := []shape{
		{name: "json", path: "/json", body: responseBody, clients: levels},
		{name: "sse", path: "/sse", body: streamBody, first: eventSize, events: eventCount, clients: levels},
	}
	if b.plan.bursts {
		all = append(all, shape{name: "sse-burst", path: "/burst", body: streamBody, first: eventSize, events: eventCount, clients: []int{16}})
	}
	return all
}

// stages measures the same upstream through bare reverse_proxy and through all stages.
func (b *bench) stages(ctx context.Context) error {
	upstream, stop, err := b.site.upstream(ctx)
	if err != nil {
		return err
	}
	defer stop()
	bare, err := b.site.caddy(ctx, "bare", bareCaddyfile, upstream)
	if err != nil {
		return err
	}
	defer bare.stop()
	full, err := b.site.caddy(ctx, "full", stagesCaddyfile, upstream)
	if err != nil {
		return err
	}
	defer full.stop()
	for _, s := range b.shapes() {
		for _, n := range s.clients {
			b.progress("%s, %d clients", s.name, n)
			if err := b.compare(ctx, s, n, bare, full); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare takes rounds of (a) and (b) in turns; every second round begins with (b).
func (b *bench) compare(ctx context.Context, s shape, clients int, bare, full *service) error {
	services := []*service{bare, full}
	samples := make([][]sample, len(services))
	for round := range b.plan.rounds {
		for turn := range services {
			i := (round + turn) % len(services)
			m, err := b.through(ctx, s, clients, services[i])
			if err != nil {
				return err
			}
			samples[i] = append(samples[i], m)
		}
	}
	var rates []float64
	var added []time.Duration
	for round := range b.plan.rounds {
		rates = append(rates, samples[1][round].Rate/samples[0][round].Rate)
		added = append(added, samples[1][round].P50-samples[0][round].P50)
	}
	b.report.Stages = append(b.report.Stages, stageFigures{
		Shape: s.name, Clients: clients, Events: s.events,
		Bare: medians(samples[0]), Stages: medians(samples[1]),
		Ratio: median(rates), AddedP50: median(added),
	})
	return nil
}

func (b *bench) through(ctx context.Context, s shape, clients int, sv *service) (sample, error) {
	return load{
		addr: sv.addr, clients: clients, request: post(s.path, sv.token, requestBody),
		check: func() checker { return &exactly{want: s.body, first: s.first} },
		warm:  b.plan.warm, lasting: b.plan.stage, pid: sv.pid(),
	}.measure(ctx)
}
