// Package corpustest gives tests the labelled texts of package corpus.
//
// A package keeps a small sample of its own in testdata/corpus. The environment variable SVC_CORPORA
// names a folder with more, in files of the same names; without it the sample alone is read:
//
//	corpustest.Each(t, "secrets.jsonl", func(t *testing.T, own bool, list []corpus.Sample) { … })
//
// Each runs one subtest after the other and belongs to the goroutine of its test.
package corpustest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/internal/corpus"
)

// Each calls check with the texts of a name: the package's own, and those of SVC_CORPORA where it is
// set. own tells which. A file that is missing or empty fails the test.
func Each(t *testing.T, name string, check func(t *testing.T, own bool, list []corpus.Sample)) {
	t.Helper()
	folders := map[string]string{"own": filepath.Join("testdata", "corpus"), "SVC_CORPORA": os.Getenv("SVC_CORPORA")}
	for _, of := range []string{"own", "SVC_CORPORA"} {
		if folders[of] == "" {
			continue
		}
		t.Run(of, func(t *testing.T) {
			list, err := corpus.Read(filepath.Join(folders[of], name))
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				t.Fatalf("%s has no texts", name)
			}
			check(t, of == "own", list)
		})
	}
}

// Rate fails the test when less than recall of the texts with label 1 are found, or more than alarms
// of the others. The ones that are wrong are logged.
func Rate(t *testing.T, list []corpus.Sample, recall, alarms float64, found func(text string) bool) {
	t.Helper()
	var all, hits [2]float64
	for _, s := range list {
		all[s.Label]++
		hit := found(s.Text)
		if hit {
			hits[s.Label]++
		}
		if hit != (s.Label == 1) {
			t.Logf("%s: got %v: %.200q", s.ID, hit, s.Text)
		}
	}
	t.Logf("found %.0f of %.0f, and %.0f of %.0f that should not be", hits[1], all[1], hits[0], all[0])
	if hits[1] < recall*all[1] || hits[0] > alarms*all[0] {
		t.Errorf("at least %v of the former should be found, at most %v of the latter", recall, alarms)
	}
}
