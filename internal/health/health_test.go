package health_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/health"
)

func TestNew(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := health.New("1.2.3", "host-1", 90*time.Second, map[string]health.Part{
		"audit": {Status: health.OK, Kind: "sqlite", Since: since},
		"bus":   {Status: health.Degraded, Kind: "redis", Since: since, Reason: "timeout"},
	})
	got, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"status":"degraded","version":"1.2.3","node":"host-1","uptime_seconds":90,"parts":{` +
		`"audit":{"status":"ok","kind":"sqlite","since":"2026-01-02T03:04:05Z"},` +
		`"bus":{"status":"degraded","kind":"redis","since":"2026-01-02T03:04:05Z","reason":"timeout"}}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if d := health.New("", "", 0, map[string]health.Part{"bus": {Status: health.OK}}); d.Status != health.OK {
		t.Errorf("got %s of parts that all work", d.Status)
	}
}
