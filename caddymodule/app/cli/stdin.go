package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Line reads what stands in the first line of in, at most that many bytes, without its end.
func Line(in io.Reader, most int64, what string) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, most)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the %s: %w", what, err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}
