package redistest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/settings"
)

// Cluster is a cluster of servers that are all masters.
type Cluster struct{ Servers []*Server }

// NewCluster starts a cluster of three, until the test ends.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{}
	args := []string{"--cluster", "create"}
	for range 3 {
		s := NewWith(t, Config{TCP: true, Lines: []string{"cluster-enabled yes", "cluster-node-timeout 5000"}})
		c.Servers = append(c.Servers, s)
		args = append(args, s.Address)
	}
	out, err := exec.Command("redis-cli", append(args, "--cluster-replicas", "0", "--cluster-yes")...).CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli: %v\n%s", err, out)
	}
	for _, s := range c.Servers {
		s.Await(t, "cluster_state:ok", "cluster", "info")
	}
	return c
}

// Bus are the settings of a bus in the cluster; one node is named.
func (c *Cluster) Bus() settings.Bus {
	b := c.Servers[0].Bus()
	b.Mode = settings.RedisCluster
	return b
}

// Failover is a server with a replica, and a sentinel that watches them.
type Failover struct{ Master, Replica, Sentinel *Server }

// masterName is what the sentinel calls the server.
const masterName = "main"

// NewFailover starts one, until the test ends.
func NewFailover(t testing.TB) *Failover {
	t.Helper()
	f := &Failover{Master: NewWith(t, Config{TCP: true})}
	host, port, _ := strings.Cut(f.Master.Address, ":")
	f.Replica = NewWith(t, Config{TCP: true, Lines: []string{"replicaof " + host + " " + port, "repl-diskless-sync-delay 0"}})
	f.Replica.Await(t, "master_link_status:up", "info", "replication")
	f.Sentinel = newSentinel(t, f.Master)
	f.Sentinel.Await(t, "slaves=1", "info", "sentinel")
	return f
}

func newSentinel(t testing.TB, master *Server) *Server {
	t.Helper()
	s := &Server{dir: shortTempDir(t)}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	s.Address = "127.0.0.1:" + port
	host, masterPort, _ := strings.Cut(master.Address, ":")
	if err := s.configure([]string{
		"bind 127.0.0.1", "port " + port,
		fmt.Sprintf("sentinel monitor %s %s %s 1", masterName, host, masterPort),
		"sentinel down-after-milliseconds " + masterName + " 1000", "sentinel failover-timeout " + masterName + " 10000",
	}); err != nil {
		t.Fatal(err)
	}
	s.args = append(s.args, "--sentinel")
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	stopAfter(t, s)
	return s
}

// Bus are the settings of a bus in whichever server is the master.
func (f *Failover) Bus() settings.Bus {
	b := f.Sentinel.Bus()
	b.Mode, b.MasterName = settings.RedisSentinel, masterName
	return b
}

// Await waits until the server's answer to a command holds a text.
func (s *Server) Await(t testing.TB, text string, command ...any) {
	t.Helper()
	for deadline := time.After(patience); ; {
		answer, err := s.Do(command...)
		if err == nil && strings.Contains(fmt.Sprint(answer), text) {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			t.Fatalf("%s does not say %q to %q: %v, %v", s.Address, text, command, answer, err)
		}
	}
}
