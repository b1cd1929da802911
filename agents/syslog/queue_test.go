package syslog

import (
	"strings"
	"testing"
)

// What waits is bounded wherever a sender puts the bytes of a message: RFC 3164 has no limit for the process.
func TestTheQueueIsBoundedInBytes(t *testing.T) {
	long := strings.Repeat("1", 60_000)
	for name, text := range map[string]string{
		"text":    "<34>Oct 11 22:14:15 h a: " + long,
		"process": "<34>Oct 11 22:14:15 h a[" + long + "]: x",
		"data":    `<34>1 - h a - - [x y="` + long + `"] x`,
		"unknown": long,
	} {
		t.Run(name, func(t *testing.T) {
			q, m := newQueue(maxWaiting), parse(text)
			n := 0
			for n*len(long) <= maxWaitingBytes && q.put(m) {
				n++
			}
			if n*len(long) > maxWaitingBytes {
				t.Errorf("%d messages of %d bytes wait, of %d bytes at most", n, len(long), maxWaitingBytes)
			}
		})
	}
}
