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
	upstream, away, err := b.site.upstream(ctx)
	if err != nil {
		return err
	}
	defer away()
	bare, full, stop, err := b.pair(ctx, "", upstream)
	if err != nil {
		return err
	}
	defer stop()
	for _, s := range b.shapes() {
		for _, n := range s.clients {
			b.progress("%s, %d clients", s.name, n)
			f, err := b.compare(ctx, bare, full, func(sv *service) load {
				return b.load(sv, n, post(s.path, sv.token, requestBody), func() checker { return &exactly{want: s.body, first: s.first} })
			})
			if err != nil {
				return err
			}
			b.report.Stages = append(b.report.Stages, stageFigures{Shape: s.name, Clients: n, Events: s.events, comparison: f})
		}
	}
	return nil
}

// pair starts bare reverse_proxy and all stages in front of the same upstream. stop stops both.
func (b *bench) pair(ctx context.Context, prefix, upstream string) (bare, full *service, stop func(), err error) {
	if bare, err = b.site.caddy(ctx, prefix+"bare", bareCaddyfile, upstream); err != nil {
		return nil, nil, nil, err
	}
	if full, err = b.site.caddy(ctx, prefix+"full", b.full, upstream); err != nil {
		bare.stop()
		return nil, nil, nil, err
	}
	return bare, full, func() { full.stop(); bare.stop() }, nil
}

// compare takes rounds of (a) bare and (b) the other in turns; every second round begins with (b).
func (b *bench) compare(ctx context.Context, bare, other *service, of func(*service) load) (comparison, error) {
	services := []*service{bare, other}
	samples := make([][]sample, len(services))
	for round := range b.plan.rounds {
		for turn := range services {
			i := (round + turn) % len(services)
			m, err := of(services[i]).measure(ctx)
			if err != nil {
				return comparison{}, err
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
	return comparison{
		Bare: medians(samples[0]), Stages: medians(samples[1]),
		Ratio: median(rates), AddedP50: median(added),
	}, nil
}

// load is a load of the plan's length.
func (b *bench) load(sv *service, clients int, request []byte, check func() checker) load {
	return load{
		addr: sv.addr, clients: clients, request: request, check: check,
		warm: b.plan.warm, lasting: b.plan.stage, pid: sv.pid(),
	}
}
