package commands

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/svc-gateway/svc/scanner/command"
)

// maxLine is the longest line that is read, in bytes.
const maxLine = 64 << 20

// asked is one line of a scan with --lines. Other fields are left alone.
type asked struct {
	ID   json.RawMessage `json:"id"`
	Text *string         `json:"text"`
}

// eachLine answers each line of in with a line on out: the answer's fields behind the id. A line
// that makes no sense is told on complaints, with its number; the others are answered all the same.
// Answers are written as soon as no line is waiting, so that a program can ask one by one.
func eachLine(in io.Reader, out, complaints io.Writer, judge func(text string) answer) (found bool, err error) {
	lines := bufio.NewReaderSize(in, 64<<10)
	answers := bufio.NewWriterSize(out, 64<<10)
	encoder := json.NewEncoder(answers)
	encoder.SetEscapeHTML(false)
	bad := 0
	for n := 1; ; n++ {
		line, readErr := readLine(lines)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return found, errors.Join(fmt.Errorf("line %d: %w", n, readErr), answers.Flush())
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			q, err := parseLine(line)
			if err != nil {
				bad++
				fmt.Fprintf(complaints, "line %d: %v\n", n, err)
			} else {
				a := judge(*q.Text)
				found = found || a.found()
				if err := encoder.Encode(answered(q.ID, a)); err != nil {
					return found, fmt.Errorf("writing the answer to line %d: %w", n, err)
				}
			}
		}
		if lines.Buffered() == 0 || readErr != nil {
			if err := answers.Flush(); err != nil {
				return found, fmt.Errorf("writing answers: %w", err)
			}
		}
		if readErr != nil {
			break
		}
	}
	if bad > 0 {
		return found, fmt.Errorf("%d of the lines could not be read; each is an object like {\"id\": \"1\", \"text\": \"…\"}", bad)
	}
	return found, nil
}

// readLine returns the next line; with the last one comes io.EOF.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("it is longer than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func parseLine(line []byte) (q asked, err error) {
	if err := json.Unmarshal(line, &q); err != nil {
		return q, fmt.Errorf("not a JSON object with id and text: %w", err)
	}
	switch {
	case q.Text == nil:
		return q, errors.New("the field text is missing")
	case q.ID == nil:
		return q, errors.New("the field id is missing")
	}
	return q, nil
}

// answered puts the id in front of an answer.
func answered(id json.RawMessage, a answer) any {
	switch a := a.(type) {
	case verdict:
		categories := a.Categories
		if categories == nil {
			categories = []string{}
		}
		return struct {
			ID         json.RawMessage `json:"id"`
			Class      command.Class   `json:"class"`
			Categories []string        `json:"categories"`
		}{id, a.Class, categories}
	case redacted:
		return struct {
			ID       json.RawMessage `json:"id"`
			Redacted string          `json:"redacted"`
		}{id, a.Redacted}
	}
	return struct {
		ID json.RawMessage `json:"id"`
		findings
	}{id, a.(findings)}
}
