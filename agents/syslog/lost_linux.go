package syslog

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// countLost counts what the kernel has dropped, of all sockets for datagrams, because nobody had read it
// in time. Where the kernel does not tell, nothing is counted.
func (r *Receiver) countLost() {
	mine := map[string]bool{}
	for _, c := range r.udp {
		if inode, err := inodeOf(c); err == nil {
			mine[inode] = true
		}
	}
	if len(mine) == 0 {
		return
	}
	var lost int64
	for _, path := range []string{"/proc/self/net/udp", "/proc/self/net/udp6"} {
		lost += drops(path, mine)
	}
	r.count.lost.Store(max(lost, r.count.lost.Load()))
}

func inodeOf(c *net.UDPConn) (inode string, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return "", err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		var st syscall.Stat_t
		if failed = syscall.Fstat(int(fd), &st); failed == nil {
			inode = strconv.FormatUint(st.Ino, 10)
		}
	}); err != nil {
		return "", err
	}
	if failed != nil {
		return "", fmt.Errorf("looking at a socket: %w", failed)
	}
	return inode, nil
}

// The columns of /proc/net/udp that matter here.
const (
	columnInode = 9
	columnDrops = 12
)

func drops(path string, inodes map[string]bool) (sum int64) {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		columns := strings.Fields(lines.Text())
		if len(columns) > columnDrops && inodes[columns[columnInode]] {
			if n, err := strconv.ParseInt(columns[columnDrops], 10, 64); err == nil {
				sum += n
			}
		}
	}
	return sum
}
