package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

// answer is a service that always answers the same.
type answer string

func (a answer) Send(context.Context, string, string, any, ...string) (*http.Response, error) {
	return &http.Response{Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

func TestStreamCopy(t *testing.T) {
	const done = "data: {\"type\":\"done\"}\n\n"
	for _, tt := range []struct {
		name, body, out, told, err string
		code                       int
	}{
		{
			"pieces", "data: {\"type\":\"message_chunk\",\"content\":\"Hel\"}\n\ndata: {\"type\":\"message_chunk\",\"content\":\"lo\"}\n\n" + done,
			"Hello\n", "", "", 0,
		},
		{
			"keepalives, ids and unknown types", "\n\nid: 3\ndata: {\"type\":\"news\"}\n\n: hb\n\ndata: {\"type\":\"text\",\"content\":\"Hi\\n\"}\n\n" + done,
			"Hi\n", "", "", 0,
		},
		{
			"a tool between words", "data: {\"type\":\"text\",\"content\":\"Looking\"}\n\ndata: {\"type\":\"tool_use\",\"name\":\"run_command\",\"input\":{\"command\":\"df -h\"}}\n\ndata: {\"type\":\"text\",\"content\":\"40 %\"}\n\n" + done,
			"Looking\n40 %\n", "[run_command] {\"command\":\"df -h\"}\n", "", 0,
		},
		{
			"denied", "data: {\"type\":\"tool_use\",\"name\":\"rm\",\"input\":{},\"status\":\"denied\",\"reason\":\"needs\\nleave\"}\n\n" + done,
			"", "[rm] {} denied: needs leave\n", "", cli.ExitDenied,
		},
		{"error", "data: {\"type\":\"error\",\"code\":\"model_down\",\"message\":\"no model\"}\n\n" + done, "", "", "no model (model_down)", 0},
		{"cut off", "data: {\"type\":\"text\",\"content\":\"Hal\"}\n\n", "Hal\n", "", "the stream ended before the answer did", 0},
		{"not JSON", "data: {\n\n", "", "", "reading the stream", 0},
		{"control characters", "data: {\"type\":\"text\",\"content\":\"a\\u001b[2Jb\\u009bc\\r\"}\n\n" + done, "a[2Jbc\n", "", "", 0},
		{"nothing after done", done + "data: {\"type\":\"text\",\"content\":\"late\"}\n\n", "", "", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, told bytes.Buffer
			s := stream{out: &out, told: &told, raw: io.Discard}
			run, err := ask.Client{Service: answer(tt.body)}.Start(t.Context(), "", ask.Run{})
			if err != nil {
				t.Fatal(err)
			}
			err = s.copy(run)
			if out.String() != tt.out || told.String() != tt.told {
				t.Errorf("got out %q, told %q; want %q, %q", out.String(), told.String(), tt.out, tt.told)
			}
			coded, isCoded := errors.AsType[*cli.CodedError](err)
			switch {
			case tt.code != 0:
				if !isCoded || coded.Code != tt.code {
					t.Errorf("got error %v, want the exit code %d", err, tt.code)
				}
			case (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err):
				t.Errorf("got error %v, want %q", err, tt.err)
			}
		})
	}
}
