package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner"
)

// httpClient is a command line client of HTTP.
type httpClient struct {
	method []string // options that name the method
	sends  []string // options that send something with POST or PUT unless the method says otherwise
	other  []string // options with which what it does is not known
	saves  []string // options that name a file to write
}

var httpCommands = map[string]httpClient{
	"curl": {
		[]string{"X", "--request"},
		[]string{"d", "F", "T", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "--form", "--form-string", "--upload-file"},
		[]string{"K", "--config", "Q", "--quote"},
		[]string{"o", "--output", "--output-dir", "D", "--dump-header", "c", "--cookie-jar"},
	},
	"wget": {
		[]string{"--method"},
		[]string{"--post-data", "--post-file", "--body-data", "--body-file"},
		[]string{"e", "i", "--execute", "--input-file", "--use-askpass"},
		[]string{"O", "P", "--output-document", "--directory-prefix", "o", "--output-file"},
	},
	"iwr": {[]string{"-Method", "-method", "-CustomMethod"}, []string{"-Body", "-body", "-InFile", "-infile", "-Form"}, nil, []string{"-OutFile", "-outfile"}},
	"gh":  {[]string{"X", "--method"}, []string{"f", "F", "--field", "--raw-field", "--input"}, nil, nil},
}

// value returns the value of the first of the options that is given.
func (c call) value(options ...string) (arg, bool) {
	for i, a := range c {
		for _, o := range options {
			short := len(o) == 1
			switch {
			case a.text == o && !short, short && len(a.text) > 1 && a.text[0] == '-' && a.text[1] != '-' && strings.HasSuffix(a.text, o):
				if i+1 < len(c) {
					return c[i+1], true
				}
			case strings.HasPrefix(o, "--") && strings.HasPrefix(a.text, o+"="):
				return arg{text: a.text[len(o)+1:], dynamic: a.dynamic}, true
			case short && strings.HasPrefix(a.text, "-"+o):
				return arg{text: strings.TrimPrefix(a.text[2:], "="), dynamic: a.dynamic}, true
			}
		}
	}
	return arg{}, false
}

// judgeHTTP judges a client by its options.
func judgeHTTP(name string) func(call) verdict {
	client := httpCommands[name]
	target := judgeTarget(name, client.saves...)
	return func(args call) verdict {
		v := target(args)
		_, sends := args.value(client.sends...)
		method, given := args.value(client.method...)
		sends = sends && (name != "curl" || !args.has("G", "--get", "I", "--head"))
		switch verb := strings.ToLower(method.text); {
		case given && (verb == "get" || verb == "head" || verb == "options"):
		case given && verb == "delete":
			v = worse(v, verdict{class: Dangerous, category: Erase, reason: name + " deletes on a server", write: scanner.HTTPWrite})
		case given && httpVerbs.HasFoldString(verb) || sends:
			v = worse(v, verdict{class: Unknown, reason: name + " sends something", write: scanner.HTTPWrite})
		case given:
			v = worse(v, verdict{class: Unknown, reason: "the method of " + name + " is not known", write: scanner.HTTPWrite})
		}
		if args.has(client.other...) {
			v = worse(v, unknown(name+" does what a file says"))
		}
		if args.dynamic() {
			v = worse(v, unknown(name+" sends or fetches what is only known at run time"))
		}
		return v
	}
}

// judgeHTTPie judges http, https and their kind: METHOD URL ITEM….
func judgeHTTPie(args call) verdict {
	rest := args.operands()
	if len(rest) == 0 {
		return unknown("the request is not known")
	}
	write := verdict{class: Unknown, reason: "it sends something", write: scanner.HTTPWrite}
	switch verb := rest[0].text; {
	case verb == "get" || verb == "GET" || verb == "HEAD" || verb == "OPTIONS" || verb == "head":
		return fetches(args)
	case strings.EqualFold(verb, "delete"):
		write.class, write.category = Dangerous, Erase
		return write
	case httpVerbs.HasFoldString(verb):
		return write
	}
	for _, a := range rest[1:] {
		name, _, item := strings.Cut(a.text, "=")
		if item && !strings.HasSuffix(name, "=") && !strings.HasPrefix(a.text[len(name):], "==") || strings.Contains(a.text, ":=") || strings.Contains(a.text, "@") {
			return write
		}
	}
	return fetches(args)
}

// fetches judges a request that only gets something: it may still carry data away in its address.
func fetches(args call) verdict {
	if args.dynamic() {
		return unknown("an argument is only known at run time")
	}
	return mutate("it talks to another host")
}

// readsUnless judges what only reads when all of it is known.
func readsUnless(args call) verdict {
	if args.dynamic() {
		return unknown("an argument is only known at run time")
	}
	return verdict{class: ReadOnly}
}
