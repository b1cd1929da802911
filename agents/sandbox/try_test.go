package sandbox_test

import (
	"context"
	"fmt"
	"os"
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
		r, err := b.Run(context.Background(), sandbox.Spec{Args: []string{"bash", "-c", c}, Collect: true, Timeout: 3*time.Second})
		fmt.Println(r.Stdout, r.Stderr, r.Exit, r.Signal, r.Files, r.Left, r.Degraded, r.TimedOut, err, time.Since(start))
	}
}
