package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/svc-gateway/svc/internal/tcpport"
)

// errNotHere means that something that is only compared with cannot be had on this machine.
var errNotHere = errors.New("cannot be had here")

// The gateway that is compared with, from npm. Its versions are in the folder.
const (
	portkeyFolder = "bench/testdata/portkey"
	portkeyScript = "node_modules/@portkey-ai/gateway/build/start-server.js"
)

// What a gateway is asked, and what the upstream answers, below two paths: both are chat completions.
const (
	answerPath = "/answer/v1"
	piecesPath = "/pieces/v1"
	completion = "/chat/completions"
)

var (
	chatRequest = map[bool][]byte{
		false: document(`{"model":"mock","stream":false,"messages":[{"role":"user","content":"`, `"}]}`),
		true:  document(`{"model":"mock","stream":true,"messages":[{"role":"user","content":"`, `"}]}`),
	}
	chatAnswer = document(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"mock","choices":[{"index":0,"message":{"role":"assistant","content":"`,
		`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`)
	chatPieces = pieces()
)

// pieces are the events of a completion, one for each piece of the text.
func pieces() [][]byte {
	const text = 24 // bytes, about what a model says at a time
	var all [][]byte
	for i := range eventCount {
		all = append(all, fmt.Appendf(nil, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"mock","choices":[{"index":0,"delta":{"content":%q}}]}`+"\n\n", words(text, i*text)))
	}
	return append(all, []byte("data: [DONE]\n\n"))
}

// portkey measures the same upstream, which speaks as OpenAI does, through bare reverse_proxy, through all
// stages, and through Portkey's gateway.
func (b *bench) portkey(ctx context.Context) error {
	upstream, away, err := b.site.upstream(ctx)
	if err != nil {
		return err
	}
	defer away()
	other, err := b.site.portkey(ctx)
	if err != nil {
		return err
	}
	defer other.stop()
	bare, full, stop, err := b.pair(ctx, "chat-", upstream)
	if err != nil {
		return err
	}
	defer stop()
	services := []*service{bare, full, other}
	f := &portkeyFigures{}
	for i, sv := range services {
		if err := pause(ctx, b.plan.settle/time.Duration(len(services))); err != nil {
			return err
		}
		if f.Idle[i], err = residentMemory(sv.pid()); err != nil {
			return err
		}
	}
	for _, s := range []shape{
		{name: "json", path: answerPath, body: chatAnswer},
		{name: "sse", path: piecesPath, body: bytes.Join(chatPieces, nil), first: len(chatPieces[0]), events: len(chatPieces)},
	} {
		of := func(sv *service, clients int) load {
			request := post(s.path+completion, sv.token, chatRequest[s.events > 0])
			if sv == other {
				request = post("/v1"+completion, "sk-upstream", chatRequest[s.events > 0],
					"x-portkey-provider: openai", "x-portkey-custom-host: http://"+upstream+s.path)
			}
			return b.load(sv, clients, request, func() checker { return &exactly{want: s.body, first: s.first} })
		}
		for _, sv := range services { // not counted: a compiler at run time has to see the code first
			if _, err := of(sv, 16).measure(ctx); err != nil {
				return fmt.Errorf("%s: %w", sv.name, err)
			}
		}
		for _, n := range []int{1, 16, 64} {
			b.progress("%s, %d clients", s.name, n)
			row, err := b.three(ctx, services, func(sv *service) load { return of(sv, n) })
			if err != nil {
				return err
			}
			row.Shape, row.Clients = s.name, n
			f.Rows = append(f.Rows, row)
		}
	}
	for i, sv := range services {
		if f.Loaded[i], err = residentMemory(sv.pid()); err != nil {
			return err
		}
	}
	b.report.Portkey = f
	return nil
}

// three takes rounds in which the services take turns; each round begins with another one.
func (b *bench) three(ctx context.Context, services []*service, of func(*service) load) (row portkeyRow, err error) {
	samples := make([][]sample, len(services))
	for round := range b.plan.rounds {
		for turn := range services {
			i := (round + turn) % len(services)
			m, err := of(services[i]).measure(ctx)
			if err != nil {
				return row, fmt.Errorf("%s: %w", services[i].name, err)
			}
			samples[i] = append(samples[i], m)
		}
	}
	for i := range services {
		row.Samples[i] = medians(samples[i])
		var rates []float64
		var added, first []time.Duration
		for round := range b.plan.rounds {
			rates = append(rates, samples[i][round].Rate/samples[0][round].Rate)
			added = append(added, samples[i][round].P50-samples[0][round].P50)
			first = append(first, samples[i][round].First-samples[0][round].First)
		}
		row.Ratio[i], row.AddedP50[i], row.AddedFirst[i] = median(rates), median(added), median(first)
	}
	return row, nil
}

// portkey starts Portkey's gateway. Its packages are installed when they are not there.
func (s site) portkey(ctx context.Context) (*service, error) {
	folder, err := filepath.Abs(portkeyFolder)
	if err != nil {
		return nil, fmt.Errorf("locating the gateway: %w", err)
	}
	if err := installed(ctx, folder); err != nil {
		return nil, err
	}
	home, err := s.folder("portkey")
	if err != nil {
		return nil, err
	}
	port, err := tcpport.Reserve()
	if err != nil {
		return nil, err
	}
	defer port.Close() // the gateway has it then
	sv := &service{name: "portkey", addr: port.Addr(), home: home}
	cmd := exec.Command("node", "--import", filepath.Join(folder, "loopback.mjs"), filepath.Join(folder, portkeyScript), "--headless", "--port="+port.String())
	return sv, sv.start(ctx, cmd, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "NODE_ENV=production"})
}

// installed sees to it that the packages of a folder are there, as its lock says.
func installed(ctx context.Context, folder string) error {
	lock, err := os.Stat(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return fmt.Errorf("locating the gateway: %w (bench has to run in the root of the repository)", err)
	}
	have, err := os.Stat(filepath.Join(folder, "node_modules", ".package-lock.json"))
	if err == nil && !have.ModTime().Before(lock.ModTime()) {
		return nil
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("the gateway of Portkey %w: %w", errNotHere, err)
		}
	}
	fmt.Fprintf(os.Stderr, "bench:   installing the packages of %s\n", folder)
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder)
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("the gateway of Portkey %w: npm ci: %w: %s", errNotHere, err, lastLines(out))
	}
	return nil
}
