package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/mcp"
	"github.com/svc-gateway/svc/internal/eventually"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/inject"
)

// TestMain is also the programs of the servers that the tests use.
func TestMain(m *testing.M) {
	if kind := os.Getenv("FAKE_SERVER"); kind != "" {
		fake(kind)
		return
	}
	os.Exit(m.Run())
}

// message is JSON-RPC.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	} `json:"params"`
}

const object = `{"type":"object","properties":{"text":{"type":"string"}}}`

// fake is a server of a revision with a handshake, written by hand so that it can do what no library does.
// FAKE_LIST is a file with its tools, if there is one.
func fake(kind string) {
	if kind == "talkative" {
		fmt.Fprintln(os.Stderr, "starting with "+os.Getenv("FAKE_SECRET"))
		os.Exit(3)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	say := func(text string) { fmt.Println(text) }
	result := func(m message, doc string) {
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, doc))
	}
	for in.Scan() {
		var m message
		if json.Unmarshal(in.Bytes(), &m) != nil {
			continue
		}
		switch m.Method {
		case "initialize":
			if kind == "silent" {
				continue
			}
			result(m, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`)
		case "notifications/initialized":
		case "tools/list":
			tools := `[{"name":"echo","description":"says it again","inputSchema":` + object + `}]`
			if file := os.Getenv("FAKE_LIST"); file != "" {
				if doc, err := os.ReadFile(file); err == nil {
					tools = strings.TrimSpace(string(doc))
				}
			}
			result(m, `{"tools":`+tools+`}`)
		case "tools/call":
			text, _ := m.Params.Arguments["text"].(string)
			switch text {
			case "die":
				os.Exit(3)
			case "hang":
				continue
			case "huge":
				chunk := strings.Repeat("x", 1<<20)
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
				for range 100 {
					fmt.Print(chunk)
				}
				say(`"}]}}`)
			case "flood":
				for {
					say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
				}
			case "fail":
				result(m, `{"content":[{"type":"text","text":"no such row"}],"isError":true}`)
			case "refuse":
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"not today"}}`, m.ID))
			case "ask":
				say(`{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
				result(m, `{"content":[{"type":"text","text":"went on"}]}`)
			case "hologram":
				result(m, `{"content":[{"type":"hologram","data":"x"}]}`)
			case "deep":
				result(m, strings.Repeat("[", 100)+strings.Repeat("]", 100))
			case "noise":
				say("Listening on stdio")
			case "secret":
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"%s is no good"}}`, m.ID, os.Getenv("FAKE_SECRET")))
			case "null":
				result(m, `null`)
			case "odd":
				result(m, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"resource_link","uri":"file:///x","name":"x"},{"type":"resource","resource":{"uri":"a:b","text":"inside"}}],"structuredContent":{"a":1}}`)
			case "changed":
				say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				result(m, `{"content":[{"type":"text","text":"told"}]}`)
			case "environment":
				doc, _ := json.Marshal(strings.Join(os.Environ(), "\n"))
				result(m, `{"content":[{"type":"text","text":`+string(doc)+`}]}`)
			case "folder":
				dir, _ := os.Getwd()
				doc, _ := json.Marshal(dir)
				result(m, `{"content":[{"type":"text","text":`+string(doc)+`}]}`)
			default:
				doc, _ := json.Marshal("said " + text)
				result(m, `{"content":[{"type":"text","text":`+string(doc)+`}]}`)
			}
		default:
			if len(m.ID) > 0 {
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"there is no %s"}}`, m.ID, m.Method))
			}
		}
	}
}

// fixture is a server that this test binary is the program of.
type fixture struct {
	*mcp.Server
	t    *testing.T
	list string // file with its tools
	told chan string
}

// program configures a server of a kind.
func program(t *testing.T, kind string) (mcp.Config, string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	list := t.TempDir() + "/list.json"
	return mcp.Config{
		Name: "fake", Command: []string{exe}, Host: true, Env: []string{"FAKE_SERVER=" + kind, "FAKE_LIST=" + list},
		Actions: map[string]policy.Action{"echo": policy.Use}, Pins: t.TempDir() + "/mcp", Version: "test", Scan: inject.Scan, Log: zap.NewNop(),
	}, list
}

// open uses a server and waits until it works.
func open(t *testing.T, c mcp.Config, list string) *fixture {
	t.Helper()
	f := &fixture{t: t, list: list, told: make(chan string, 100)}
	c.Tell = func(reason string) { f.told <- reason }
	s := mcp.Open(c)
	t.Cleanup(s.Close)
	f.Server = s
	s.Start()
	f.is("connected")
	return f
}

// is waits until the server has a status.
func (f *fixture) is(status string) {
	f.t.Helper()
	eventually.True(f.t, "status "+status, func() bool { return f.Status().Status == status })
}

// offers has the server offer other tools, and waits until that is known.
func (f *fixture) offers(doc string) {
	f.t.Helper()
	if err := os.WriteFile(f.list, []byte(doc), 0o600); err != nil {
		f.t.Fatal(err)
	}
	eventually.True(f.t, "the new list", func() bool {
		f.Look()
		n := 0
		for _, t := range f.Status().Tools {
			switch {
			case t.State == mcp.StateRemoved:
			case !strings.Contains(doc, strconv.Quote(t.Tool)) || !strings.Contains(doc, strconv.Quote(t.Description)):
				return false
			default:
				n++
			}
		}
		return n == strings.Count(doc, `"name"`)
	})
}

// approve approves what the server offers now.
func (f *fixture) approve() []mcp.Offer {
	f.t.Helper()
	offers, err := f.Approve("ada", f.Status().Digest)
	if err != nil {
		f.t.Fatal(err)
	}
	return offers
}

// states are those of the tools, by name.
func (f *fixture) states() map[string]string {
	all := map[string]string{}
	for _, t := range f.Status().Tools {
		all[t.Tool] = t.State
	}
	return all
}

// names are those of the tools that agents have.
func (f *fixture) names() []string {
	var all []string
	for _, t := range f.Tools() {
		all = append(all, t.Name)
	}
	return all
}

// say calls the tool echo.
func (f *fixture) say(o mcp.Offer, text string) (string, error) {
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	return f.Call(ctx, o, map[string]any{"text": text})
}
