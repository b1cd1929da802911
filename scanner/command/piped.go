package command

import (
	"encoding/base32"
	"encoding/hex"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// piped is what a command reads or prints.
type piped struct {
	text    string // with holes for what is not known, when known
	known   bool
	remote  bool // it comes from another host
	decoded bool // it was decoded from what is not known
}

// loaders print what comes from elsewhere, decoders what was hidden, and carried what another command prints.
var (
	loaders  = text.Words("curl wget fetch aria2c nc ncat netcat socat ftp lftp tftp lynx w3m links http https httpie xh ssh telnet dig host nslookup gsutil")
	carried  = text.Words("sudo doas env command nice timeout nohup exec builtin busybox stdbuf")
	decoders = text.Words("base64 base32 openssl gpg xxd uudecode gunzip zcat gzip bunzip2 bzcat xzcat unxz xz zstd rev tr basenc uncompress lz4")
)

// outputs returns what statements print one after the other.
func (w *shell) outputs(list []*syntax.Stmt, in piped) (out piped) {
	for _, s := range list {
		o := w.output(s, in)
		if !o.known {
			o.text = notYet + "\n"
		}
		out = piped{out.text + o.text, out.known || o.known, out.remote || o.remote, out.decoded || o.decoded}
	}
	return out
}

// output returns what a statement prints.
func (w *shell) output(s *syntax.Stmt, in piped) piped {
	if !w.stepped(1) {
		return piped{}
	}
	for _, r := range s.Redirs {
		switch {
		case r.Hdoc != nil:
			in = piped{text: w.word(r.Hdoc).text, known: true}
		case r.Op == syntax.WordHdoc:
			in = piped{text: w.word(r.Word).text + "\n", known: true}
		case r.Op == syntax.RdrIn:
			in = w.redirected(r.Word)
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.printed(w.words(c.Args), in)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return w.output(c.Y, w.output(c.X, in))
		}
		return w.outputs([]*syntax.Stmt{c.X, c.Y}, in)
	case *syntax.Block:
		return w.outputs(c.Stmts, in)
	case *syntax.Subshell:
		return w.outputs(c.Stmts, in)
	}
	return piped{remote: in.remote, decoded: in.decoded}
}

// redirected returns what comes from a redirection's file, which may be the output of a command.
func (w *shell) redirected(word *syntax.Word) (out piped) {
	for _, p := range word.Parts {
		if p, ok := p.(*syntax.ProcSubst); ok {
			return w.outputs(p.Stmts, piped{})
		}
	}
	return piped{}
}

// printed returns what a simple command prints.
func (w *shell) printed(args []arg, in piped) piped {
	for len(args) > 1 && !args[0].dynamic && carried.HasFoldString(baseName(args[0].text)) {
		rest := args[1:]
		for len(rest) > 1 && (strings.HasPrefix(rest[0].text, "-") || strings.Contains(rest[0].text, "=") || strings.Trim(rest[0].text, "0123456789smhd.") == "") {
			rest = rest[1:]
		}
		args = rest
	}
	if len(args) == 0 {
		return piped{}
	}
	name, rest := baseName(args[0].text), call(args[1:])
	out := piped{remote: in.remote || loaders.HasFoldString(name), decoded: in.decoded}
	s, ok := "", false
	switch name {
	case "echo":
		s, ok = echoed(rest), true
	case "printf":
		s, ok = printf(rest)
	case "cat", "tee", "sort", "uniq", "head", "tail", "tac", "nl", "pv", "dos2unix", "buffer", "sponge", "fold":
		if len(rest.operands()) == 0 || rest.first() == "-" || name == "tee" || name == "head" || name == "tail" {
			s, ok = in.text, in.known
		}
	case "rev":
		lines := strings.Split(in.text, "\n")
		for i, l := range lines {
			lines[i] = reversed(l)
		}
		s, ok = strings.Join(lines, "\n"), in.known
	case "base64", "basenc", "openssl":
		if in.known && rest.has("d", "D", "--decode", "-base64") && !rest.has("-in") {
			decoded, err := decodeBase64(in.text)
			s, ok = decoded, err == nil
		}
	case "base32":
		if b, err := base32.StdEncoding.DecodeString(strings.TrimSpace(in.text)); err == nil && rest.has("d", "--decode") {
			s, ok = string(b), in.known
		}
	case "xxd":
		if b, err := hex.DecodeString(strings.Join(strings.Fields(in.text), "")); err == nil && rest.has("r") {
			s, ok = string(b), in.known
		}
	case "tr":
		s, ok = translated(in.text, rest)
		ok = ok && in.known
	case "sed":
		s, ok = substituted(in.text, rest.first())
		ok = ok && in.known
	}
	out.text, out.known = s, ok && len(s) <= maxCommand
	out.decoded = out.decoded || !out.known && decoders.HasFoldString(name) && name != "tr" && name != "rev"
	if out.known {
		out.remote, out.decoded = slices.ContainsFunc(rest, func(a arg) bool { return a.remote }), false
	}
	return out
}

// echoed returns what echo prints. Escapes are replaced with -e, and also without where they
// would be by some shells.
func echoed(args call) string {
	for len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "neE") == "" {
		args = args[1:]
	}
	return plain(args.joined()) + "\n"
}

// joined returns the arguments separated by spaces.
func (c call) joined() string {
	texts := make([]string, len(c))
	for i, a := range c {
		texts[i] = a.text
	}
	return strings.Join(texts, " ")
}

// printf returns what printf prints.
func printf(args call) (string, bool) {
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || args[0].text == "-v" {
		return "", false
	}
	format, values := args[0].text, args[1:]
	var b strings.Builder
	for {
		took := false
		for i := 0; i < len(format); {
			switch {
			case format[i] == '\\':
				i += resolveEscape(&b, format[i:])
			case format[i] == '%' && i+1 < len(format) && format[i+1] == '%':
				b.WriteByte('%')
				i += 2
			case format[i] == '%' && i+1 < len(format):
				for i++; i < len(format)-1 && strings.IndexByte("-+ #0123456789.", format[i]) >= 0; i++ {
				}
				value := ""
				if len(values) > 0 {
					value, values, took = values[0].text, values[1:], true
				}
				if format[i] == 'b' {
					value = plain(value)
				}
				b.WriteString(value)
				i++
			default:
				b.WriteByte(format[i])
				i++
			}
		}
		if len(values) == 0 || !took || b.Len() > maxCommand {
			return b.String(), true
		}
	}
}

// translated returns what tr makes of a text.
func translated(text string, args call) (string, bool) {
	sets := args.operands()
	if args.has("d") && len(sets) == 1 {
		drop := ranges(sets[0].text)
		return strings.Map(func(r rune) rune {
			if slices.Contains(drop, r) {
				return -1
			}
			return r
		}, text), true
	}
	if len(sets) != 2 {
		return "", false
	}
	from, to := ranges(sets[0].text), ranges(sets[1].text)
	if len(to) == 0 {
		return "", false
	}
	return strings.Map(func(r rune) rune {
		if i := slices.Index(from, r); i >= 0 {
			return to[min(i, len(to)-1)]
		}
		return r
	}, text), true
}

// ranges returns the characters of a set of tr.
func ranges(set string) (list []rune) {
	set = strings.NewReplacer("[:upper:]", "A-Z", "[:lower:]", "a-z", "[:digit:]", "0-9", "[:space:]", " \n\t").Replace(plain(set))
	r := []rune(set)
	for i := 0; i < len(r); i++ {
		if i+2 < len(r) && r[i+1] == '-' && r[i] <= r[i+2] && r[i+2] < 128 {
			for c := r[i]; c <= r[i+2]; c++ {
				list = append(list, c)
			}
			i += 2
			continue
		}
		list = append(list, r[i])
	}
	return list
}

// substituted returns what s/from/to/ makes of a text, for a from without special characters.
func substituted(text, script string) (string, bool) {
	if len(script) < 4 || script[0] != 's' {
		return "", false
	}
	parts := strings.Split(script[2:], script[1:2])
	if len(parts) != 3 || strings.ContainsAny(parts[0], `.*[]^$\+?(`) || parts[0] == "" {
		return "", false
	}
	times := 1
	if strings.Contains(parts[2], "g") {
		times = -1
	}
	return strings.Replace(text, parts[0], parts[1], times), len(text)*(1+len(parts[1])) < maxCommand
}
