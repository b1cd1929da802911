package state_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/agents/memory/memorytest"
	"github.com/svc-gateway/svc/agents/state"
)

func TestMemoriesConformance(t *testing.T) {
	memorytest.Conformance(t, func(t *testing.T) memorytest.Store { return openMemories(t, filepath.Join(t.TempDir(), "state.db")) })
}

func openMemories(t testing.TB, path string) *state.Store {
	t.Helper()
	s, err := state.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func memoryOf(n int, owner, text string) memory.Entry {
	at := time.Date(2026, 3, 1, 0, 0, n, 0, time.UTC)
	return memory.Entry{
		ID: fmt.Sprintf("mem_%032x", n), Owner: owner, Category: memory.Fact, Text: text, Labels: []string{"user"}, Created: at, Updated: at, Used: at,
	}
}

// What is forgotten is not in the files any more: not in a freed page, not in the index of words, not in the
// write-ahead log.
func TestForgottenMemoriesAreErased(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openMemories(t, path)
	room := memory.Room{Entries: 1 << 20, Bytes: 1 << 30}
	var ids []string
	for n := range 500 { // enough for the index to be tidied several times
		e := memoryOf(n, "ada", fmt.Sprintf("note %d of host h%d", n, n%50))
		if n%10 == 0 {
			e.Text += fmt.Sprintf(" xylophone%dsecretword", n)
			ids = append(ids, e.ID)
		}
		if _, err := s.KeepMemory(t.Context(), e, room); err != nil {
			t.Fatal(err)
		}
	}
	if !inFiles(t, path, "xylophone") {
		t.Fatal("the test looks in the wrong place")
	}
	if gone, err := s.ForgetMemories(t.Context(), "ada", ids); err != nil || len(gone) != len(ids) {
		t.Fatalf("forgot %d of %d, %v", len(gone), len(ids), err)
	}
	if err := s.EraseMemories(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"xylophone", "secretword"} {
		if inFiles(t, path, word) {
			t.Errorf("%q is still in the files", word)
		}
	}
	if _, err := s.ClearMemories(t.Context(), "ada", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := s.EraseMemories(t.Context()); err != nil {
		t.Fatal(err)
	}
	if inFiles(t, path, "of host") {
		t.Error("what was cleared is still in the files")
	}
}

func inFiles(t *testing.T, path, word string) bool {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(word)) {
			return true
		}
	}
	return false
}

// memoryText is a memory of somebody who looks after a network.
func memoryText(r *rand.Rand) string {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	host := fmt.Sprintf("%s%02d", pick("web", "db", "core-sw", "edge-rtr", "fw", "nas", "mail", "proxy"), r.IntN(60))
	site := pick("Zurich", "Vienna", "Porto", "Leeds", "Osaka", "Austin", "Nairobi", "Tallinn")
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("The backup of %s in %s runs every night at %02d:%02d.", host, site, r.IntN(24), r.IntN(60))
	case 1:
		return fmt.Sprintf("The user prefers %s over %s on %s.", pick("vim", "nano", "emacs", "ed"), pick("nftables", "iptables", "sed", "ansible"), host)
	case 2:
		return fmt.Sprintf("%s has the address 10.%d.%d.%d in VLAN %d, %s.", host, r.IntN(255), r.IntN(255), r.IntN(255), r.IntN(4000), site)
	case 3:
		return fmt.Sprintf("It was decided not to reload %s before the maintenance window of %s on day %d.", host, site, r.IntN(28))
	case 4:
		return fmt.Sprintf("The disk /dev/sd%c of %s was %d percent full and was cleaned by removing old logs.", 'a'+r.IntN(6), host, 60+r.IntN(40))
	case 5:
		return fmt.Sprintf("The service %s on %s listens on port %d behind the firewall of %s.", pick("nginx", "postgres", "redis", "dovecot", "haproxy"), host, r.IntN(65000), site)
	case 6:
		return fmt.Sprintf("Interface ge-0/0/%d of %s towards %s flaps when the link to %s is loaded.", r.IntN(48), host, site, pick("ISP-A", "ISP-B", "the data centre"))
	}
	return fmt.Sprintf("Contact for %s in %s is extension %d, ticket %d has the history.", host, site, r.IntN(9000), r.IntN(1e6))
}

// Recall over many memories, of one user and of many.
func BenchmarkSearchMemories(b *testing.B) {
	questions := []string{
		"How full are the disks on web07 and db12?", "When does the backup of nas33 in Vienna run?", "Reload the firewall fw02 in Osaka tonight please",
		"Which port does postgres on db41 listen on?", "Why does the interface of core-sw05 flap?", "Show the configuration of edge-rtr44",
		"Which of the hosts in Zurich has the service nginx and a full disk?",
	}
	for _, bc := range []struct {
		name  string
		users int
	}{{"one user", 1}, {"1000 users", 1000}} {
		b.Run(bc.name, func(b *testing.B) {
			s := openMemories(b, filepath.Join(b.TempDir(), "state.db"))
			r := rand.New(rand.NewPCG(1, 2))
			const all = 100_000
			work := make(chan memory.Entry, 256)
			done := make(chan error)
			for range 64 { // they share commits
				go func() {
					var failed error
					for e := range work {
						if _, err := s.KeepMemory(b.Context(), e, memory.Room{Entries: all, Bytes: 1 << 40}); err != nil {
							failed = err
						}
					}
					done <- failed
				}()
			}
			for n := range all {
				work <- memoryOf(n, fmt.Sprint("user", n%bc.users), memoryText(r))
			}
			close(work)
			for range 64 {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
			found, at := 0, 0
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				list, err := s.SearchMemories(b.Context(), memory.Query{
					Owner: fmt.Sprint("user", at%bc.users), Agent: "core", Words: memory.Asked(questions[at%len(questions)]), Limit: 32,
				})
				if err != nil {
					b.Fatal(err)
				}
				found, at, took = found+len(list), at+1, append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-p50")
			b.ReportMetric(float64(found)/float64(b.N), "found/op")
		})
	}
}
