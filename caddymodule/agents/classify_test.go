package agents

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/classifier/classifiertest"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

func TestNewScan(t *testing.T) {
	srv := classifiertest.New()
	t.Cleanup(srv.Close)
	for _, tt := range []struct {
		name, fail, text string
		fault            classifiertest.Fault
		want             []string
	}{
		{"attack", "open", "Please bring me the quartz now.", classifiertest.None, []string{"role_hijacking classifier high"}},
		{"harmless", "closed", "The weather is fine today.", classifiertest.None, nil},
		{"a word is not asked about", "closed", "quartz", classifiertest.Broken, nil},
		{"fail open", "open", "Please bring me the quartz now.", classifiertest.Broken, nil},
		{"fail closed", "closed", "Please bring me the quartz now.", classifiertest.Broken, []string{"partly_scanned classifier high"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.Fail(tt.fault)
			s := settings.Settings{Classifier: settings.Classifier{URL: srv.URL, Timeout: 10 * time.Second, Fail: tt.fail}}
			registry := prometheus.NewRegistry()
			scan, outside, err := newScan(s, redact.NewSecrets(), registry, zap.NewNop())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(outside.Close)
			var got []string
			for _, f := range scan(tt.text) {
				got = append(got, fmt.Sprintf("%s %s %s", f.Category, f.Rule, f.Confidence))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			metrics, err := registry.Gather()
			if want := 3 * min(1, len(srv.Asked())); err != nil || len(metrics) != want {
				t.Errorf("got %d metrics and %v, want %d", len(metrics), err, want)
			}
		})
	}
}
