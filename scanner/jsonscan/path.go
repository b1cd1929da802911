package jsonscan

import (
	"bytes"
	"strings"
)

// Fits reports whether a field is the one at a path: its name, or all keys to it with dots between them,
// where * is any.
func Fits(field string, path []byte) bool {
	if !strings.Contains(field, ".") {
		last := path[bytes.LastIndexByte(path, '/')+1:]
		last, _, _ = bytes.Cut(last, []byte("@"))
		return strings.EqualFold(string(last), field)
	}
	text := strings.TrimPrefix(PathText(path), "/")
	for part := range strings.SplitSeq(field, ".") {
		var key string
		if key, text, _ = strings.Cut(text, "/"); part != "*" && part != key {
			return false
		}
	}
	return text == ""
}

// PathText returns a path without the tags that tell the objects on it apart, which stand behind an @.
func PathText(path []byte) string {
	if bytes.IndexByte(path, '@') < 0 {
		return string(path)
	}
	var b strings.Builder
	for part := range bytes.SplitSeq(bytes.TrimPrefix(path, []byte("/")), []byte("/")) {
		key, _, _ := bytes.Cut(part, []byte("@"))
		b.WriteByte('/')
		b.Write(key)
	}
	return b.String()
}
