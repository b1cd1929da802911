package main

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// serve runs requests until the service closes the socket, and then ends all that still run. Each
// message on the socket brings the descriptors of one request.
func serve() int {
	unix.CloseOnExec(wire.FDSocket)
	var running sync.WaitGroup
	gone := make(chan struct{})
	sp := spares{house: newHousehold()}
	for {
		fds, err := receive(wire.FDSocket)
		if err != nil {
			fmt.Fprintln(os.Stderr, "svc-sandbox: receiving a request:", err)
			continue
		}
		if fds == nil {
			break
		}
		running.Go(func() { supervise(fds, &sp, gone) })
	}
	close(gone)
	running.Wait()
	sp.close()
	return 0
}

// receive waits for the descriptors of a request. There are none once the service is gone.
func receive(socket int) ([]int, error) {
	var b [1]byte
	oob := make([]byte, unix.CmsgSpace(4*wire.Descriptors))
	n, oobn, _, _, err := unix.Recvmsg(socket, b[:], oob, unix.MSG_CMSG_CLOEXEC)
	switch {
	case err == unix.EINTR:
		return receive(socket)
	case err != nil || n == 0:
		return nil, nil //nolint:nilerr // nothing will come any more
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("it brings no descriptors: %w", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	if len(fds) != wire.Descriptors {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		return nil, fmt.Errorf("it brings %d descriptors, not %d", len(fds), wire.Descriptors)
	}
	return fds, nil
}
