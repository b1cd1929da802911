package main

import (
	"bytes"
	"fmt"
	"strings"
)

// What the mock upstream answers and what its clients send. All of it passes the stages
// unchanged, so that clients can compare every byte.

const (
	documentSize = 1024 // bytes of a JSON request and of a JSON response
	eventSize    = 80   // bytes of an event on the wire
	eventCount   = 200  // events of a stream
)

// prose is ordinary text, as users write it and models answer.
const prose = "The backup of the mail server ran for forty minutes last night and ended without an error. " +
	"Please compare its size with the one of the week before, tell me which folders have grown the most, " +
	"and whether the disks will do until the end of the quarter; the new ones are ordered for March. "

var (
	requestBody  = document(`{"assistant_id":"svc-orchestrator","input":{"messages":[{"role":"user","content":"`, `"}]}}`)
	responseBody = document(`{"id":"r-1","status":"success","model":"mock","output":[{"type":"text","content":"`, `"}],"usage":{"total_tokens":412}}`)
	streamEvents = events()
	streamBody   = bytes.Join(streamEvents, nil)
	waitEvent    = streamEvents[1] // its text ends in nothing that svc_redact has to wait for
)

// document fills the space between head and tail with prose.
func document(head, tail string) []byte {
	return []byte(head + words(documentSize-len(head)-len(tail), 0) + tail)
}

func events() [][]byte {
	const head, tail = `data: {"type":"message_chunk","content":"`, "\"}\n\n"
	all := make([][]byte, eventCount)
	for i := range all {
		all[i] = []byte(head + words(eventSize-len(head)-len(tail), i*37) + tail)
	}
	return all
}

// words is n bytes of prose from an offset on.
func words(n, from int) string {
	from %= len(prose)
	return strings.Repeat(prose, 2+n/len(prose))[from : from+n]
}

// post is a request with a JSON body and more header lines; token may be empty.
func post(path, token string, body []byte, more ...string) []byte {
	lines := bearer(token)
	for _, line := range more {
		lines += line + "\r\n"
	}
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: */*\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, lines, len(body), body)
}

// get is a request without a body; token may be empty.
func get(path, token string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: */*\r\n%s\r\n", path, bearer(token))
}

func bearer(token string) string {
	if token == "" {
		return ""
	}
	return "Authorization: Bearer " + token + "\r\n"
}
