package tools

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/policy"
)

func TestEgressIsRecorded(t *testing.T) {
	log := audittest.Open(t, filepath.Join(t.TempDir(), "audit.db"))
	e := egress{log: log, call: agents.ToolContext{Principal: policy.Principal{User: "ada"}, Run: "r", Call: "c", Agent: "core"}, tool: "run_code"}
	reached := sandbox.Egress{Method: "GET", Host: "a:80", Address: "192.0.2.1:80"}
	for _, c := range []sandbox.Egress{reached, {Method: "CONNECT", Host: "b:443", Refused: "not public"}, reached, {Method: "GET", Host: "c:80"}} {
		e.add(c)
	}
	for i := range maxDestinations {
		e.add(sandbox.Egress{Method: "GET", Host: fmt.Sprintf("h%d:80", i), Address: "192.0.2.1:80"})
	}
	if err := e.end(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, ev := range audittest.Events(t, log, audit.Filter{Run: "r"}) {
		if ev.Type != audit.ToolEgress || ev.Call != "c" || ev.User != "ada" || ev.Tool != "run_code" {
			t.Fatalf("got %+v", ev)
		}
		got = append(got, ev.Status+" "+ev.Input+ev.Error)
	}
	if len(got) != maxDestinations+1 {
		t.Fatalf("got %d records", len(got))
	}
	want := []string{
		`success {"method":"GET","host":"a:80","address":"192.0.2.1:80","times":2}`,
		`denied {"method":"CONNECT","host":"b:443","times":1}not public`,
		`error {"method":"GET","host":"c:80","times":1}it could not be reached`,
		"unknown 3 connections to further destinations are not listed",
	}
	if d := cmp.Diff(want, append(got[:3:3], got[maxDestinations])); d != "" {
		t.Error(d)
	}
}
