package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox"
)

func TestTry(t *testing.T) {
	b, err := sandbox.Open(context.Background(), sandbox.Config{Helper: os.Getenv("HELPER")})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(b.Mode(), b.Weaker())
	for _, f := range b.Findings() {
		fmt.Println(f)
	}
	for _, c := range []string{"id; pwd; ls -la / /dev /proc /workspace /tmp; env; mount; cat /proc/self/status | grep -E 'Cap|NoNew|Secc'; ulimit -a; ps aux; hostname; echo hi >x; ln -s /etc/passwd y", "sleep 100 & setsid sleep 100 & echo hi"} {
		start := time.Now()
		r, err := b.Run(context.Background(), sandbox.Spec{Args: []string{"bash", "-c", c}, Collect: true, Timeout: 3 * time.Second})
		fmt.Println(r.Stdout, r.Stderr, r.Exit, r.Signal, r.Files, r.Left, r.Degraded, r.TimedOut, err, time.Since(start))
	}
}

func TestTime(t *testing.T) {
	b, err := sandbox.Open(context.Background(), sandbox.Config{Helper: os.Getenv("HELPER")})
	if err != nil {
		t.Fatal(err)
	}
	var all, bw []time.Duration
	for range 150 {
		start := time.Now()
		r, err := b.Run(context.Background(), sandbox.Spec{Args: []string{"/bin/true"}})
		if err != nil || r.Exit != 0 {
			t.Fatal(r, err)
		}
		all = append(all, time.Since(start))
		start = time.Now()
		if err := exec.Command("bwrap", strings.Fields("--unshare-all --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin --proc /proc --dev /dev --tmpfs /tmp --die-with-parent /bin/true")...).Run(); err != nil {
			t.Fatal(err)
		}
		bw = append(bw, time.Since(start))
	}
	slices.Sort(all)
	slices.Sort(bw)
	fmt.Println(b.Mode(), b.Weaker(), all[0], all[75], all[140], "bwrap", bw[0], bw[75], bw[140])
}
