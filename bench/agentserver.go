package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/tcpport"
)

// The reference development server of the graph-based agent server protocol, from npm. Its versions are
// in the folder of the packages; it runs ten runs side by side, its default. Its graph is in another folder.
const (
	referencePackages = "testscript/testdata/langgraph"
	referenceScript   = "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs"
	referenceGraph    = "bench/testdata/reference"
)

// asked is what runs are asked. Our demo model answers it; the reference's model says the same pieces.
const asked = "Tell me about yourself"

// speaker is a server that speaks the protocol, with an agent that answers at once.
type speaker struct {
	*service
	assistant string
}

// task is something that both servers are asked with the same request, but for the name of the agent.
type task struct {
	name    string
	aims    map[int]float64 // least throughput of the reference's, by the number of clients
	clients []int
	request func(ctx context.Context, s speaker) ([]byte, error)
	check   func() checker
}

var tasks = []task{
	{
		name: "a run, streamed", clients: []int{1, 50, 200}, aims: map[int]float64{50: 25, 200: 11}, check: func() checker { return &protocolStream{} },
		request: func(_ context.Context, s speaker) ([]byte, error) {
			return post("/runs/stream", s.token, fmt.Appendf(nil,
				`{"assistant_id":%q,"input":{"messages":[{"role":"user","content":%q}]},"stream_mode":["values","messages-tuple"]}`, s.assistant, asked)), nil
		},
	},
	{
		name: "a thread, created", clients: []int{16}, aims: map[int]float64{16: 10}, check: func() checker { return &holding{word: "thread_id"} },
		request: func(_ context.Context, s speaker) ([]byte, error) {
			return post("/threads", s.token, []byte(`{}`)), nil
		},
	},
	{
		name: "a thread, read", clients: []int{16}, aims: map[int]float64{16: 10}, check: func() checker { return &holding{word: "thread_id"} },
		request: func(ctx context.Context, s speaker) ([]byte, error) {
			id, err := s.newThread(ctx)
			return get("/threads/"+id, s.token), err
		},
	},
	{
		name: "threads, searched", clients: []int{16}, aims: map[int]float64{16: 10}, check: func() checker { return &holding{word: "thread_id"} },
		request: func(_ context.Context, s speaker) ([]byte, error) {
			return post("/threads/search", s.token, []byte(`{"limit":10}`)), nil
		},
	},
}

// newThread makes a thread and returns its id.
func (s speaker) newThread(ctx context.Context) (string, error) {
	answer, err := s.send(ctx, "/threads", []byte(`{}`))
	if err != nil {
		return "", fmt.Errorf("making a thread: %w", err)
	}
	var made struct {
		ID string `json:"thread_id"`
	}
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" {
		return "", fmt.Errorf("making a thread: %s", lastLines(answer))
	}
	return made.ID, nil
}

// send posts a document and returns the answer, which has the status 200.
func (s speaker) send(ctx context.Context, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w: %s: %s", errBody, resp.Status, lastLines(answer))
	}
	return answer, err
}

// agentServer measures the reference server of the protocol and the service, in turns.
func (b *bench) agentServer(ctx context.Context) error {
	reference, err := b.site.reference(ctx)
	if err != nil {
		return err
	}
	defer reference.stop()
	ours, err := b.site.web(ctx, "agentserver", "SVC_RUNTIME_PROJECT_ROOT="+b.site.dir)
	if err != nil {
		return err
	}
	defer ours.stop()
	speakers := []speaker{{reference, "agent"}, {ours, "quick"}}
	for _, t := range tasks {
		for _, n := range t.clients {
			b.progress("%s, %d clients", t.name, n)
			requests := map[*service][]byte{}
			var paused error
			for _, s := range speakers {
				if requests[s.service], err = t.request(ctx, s); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
			}
			f, err := b.compare(ctx, reference, ours, func(sv *service) load {
				// It goes on with the runs that its clients left when they were done.
				if failed := reference.pause(sv != reference); failed != nil {
					paused = failed
				}
				return load{
					addr: sv.addr, clients: n, request: requests[sv], check: t.check,
					warm: b.plan.warm, lasting: b.plan.run, pid: sv.pid(),
				}
			})
			if err = errors.Join(err, paused, reference.pause(false)); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			b.report.AgentServer = append(b.report.AgentServer, taskFigures{Task: t.name, Clients: n, Aim: t.aims[n], comparison: f})
		}
	}
	return nil
}

// reference starts the reference server. Its packages are installed when they are not there.
func (s site) reference(ctx context.Context) (*service, error) {
	folder, err := filepath.Abs(referencePackages)
	if err != nil {
		return nil, fmt.Errorf("locating the reference server: %w", err)
	}
	if err := installed(ctx, folder); err != nil {
		return nil, err
	}
	home, err := s.folder("reference")
	if err != nil {
		return nil, err
	}
	port, err := tcpport.Reserve()
	if err != nil {
		return nil, err
	}
	defer port.Close() // the server has it then
	if err := writeGraph(ctx, home); err != nil {
		return nil, fmt.Errorf("writing the reference server's graph: %w", err)
	}
	if err := os.Symlink(filepath.Join(folder, "node_modules"), filepath.Join(home, "node_modules")); err != nil {
		return nil, fmt.Errorf("linking the reference server's packages: %w", err)
	}
	sv := &service{name: "reference", addr: port.Addr(), home: home}
	cmd := exec.Command("node", filepath.Join(folder, referenceScript), "dev", "--no-browser", "--host", "127.0.0.1", "--port", port.String())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return sv, sv.start(ctx, cmd, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home})
}

// writeGraph makes the project of the reference server, with a model that says what ours says.
func writeGraph(ctx context.Context, home string) error {
	var pieces []string
	ask := model.Request{Agent: "quick", Messages: []model.Message{{Role: model.RoleUser, Content: asked}}}
	if _, err := model.NewDemo().Turn(ctx, ask, func(piece string) { pieces = append(pieces, piece) }); err != nil {
		return err
	}
	said, err := json.Marshal(pieces)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, "pieces.json"), said, 0o600); err != nil {
		return err
	}
	for _, path := range []string{referenceGraph + "/agent.mjs", referenceGraph + "/langgraph.json", referencePackages + "/package.json"} {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(home, filepath.Base(path)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
