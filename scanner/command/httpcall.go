package command

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// codeCall is a call in a program.
type codeCall struct {
	*node
	values *codeValues
	path   string // one of the names that the function may have
}

func (c codeCall) args() []*node { return c.kids[1:] }

// arg returns the argument of that number if it is given without a name.
func (c codeCall) arg(i int) *node {
	for j, kid := range c.kids[1:] {
		if c.keys[j+1] != "" {
			continue
		}
		if i == 0 {
			return kid
		}
		i--
	}
	return nil
}

// named returns what is given under one of the names, as an argument or in an object.
func (c codeCall) named(names ...string) *node {
	for i, kid := range c.kids[1:] {
		if slices.Contains(names, c.keys[i+1]) {
			return kid
		}
		if c.keys[i+1] != "" {
			continue
		}
		for _, object := range c.objects(kid) {
			for j, key := range object.keys {
				if key == "" && object.kids[j].kind == nodeName {
					key = object.kids[j].text // {method} is short for {method: method}
				}
				if slices.Contains(names, key) {
					return object.kids[j]
				}
			}
		}
	}
	return nil
}

// objects returns the dictionaries or objects that an argument may be.
func (c codeCall) objects(n *node) []*node {
	switch n.kind {
	case nodeGroup:
		if n.text == "{" {
			return []*node{n}
		}
	case nodeName:
		var all []*node
		for _, b := range c.values.bound[n.text] {
			if b.kind == nodeGroup && b.text == "{" {
				all = append(all, b)
			}
		}
		return all
	}
	return nil
}

// splitPath cuts a path into the receiver and the last name.
func splitPath(path string) (receiver, name string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}

var (
	// httpClients are modules and objects that make requests.
	httpClients = text.Words(`requests httpx aiohttp axios got ky superagent needle request urllib3 urllib urllib2 treq grequests niquests
		undici http https $ jquery node-fetch cross-fetch isomorphic-fetch fetch tornado curl_cffi rest_client resttemplate webclient httpclient
		http2 httplib2 mechanize pycurl bent phin wretch ofetch $fetch axiosinstance unirest restclient faraday httparty reqwest
		httprequest okhttpclient guzzle lwp useragent ua cloudscraper tls_client
		primp urlfetch hyperquest redaxios xior wreck`)

	// httpNames are names that variables holding a client mostly have.
	httpNames = text.Words(`session sess client http https api requests req axios agent rest http_client httpclient api_client apiclient
		web fetcher instance conn connection httpsession http_session async_client s`)

	// httpServers are names of what answers requests: its post declares a route.
	httpServers = text.Words(`app router route routes server fastify blueprint bp mock mocker responses requests_mock respx nock httpretty
		sanic flask fastapi express msw rest_mock wiremock`)

	httpWrites = text.Words(`post put patch delete del postform postasync putasync patchasync deleteasync postforobject postforentity
		post_form postjson post_json`)

	httpVerbs = text.Words("post put patch delete")

	// httpOptions are arguments that only requests have.
	httpOptions = []string{"json", "data", "headers", "files", "auth", "verify", "cookies", "body", "params", "content", "timeout"}
)

// writesHTTP reports whether a call sends a request that changes something, and by which rule.
func writesHTTP(c codeCall) (rule string) {
	receiver, name := splitPath(c.path)
	fn := strings.ToLower(strings.TrimPrefix(name, unbound))
	method := c.method(receiver, fn)
	switch {
	case method != "" && !httpVerbs.HasFoldString(method): // it says that it reads
	case method != "" && (clientOf(receiver) || requestLike.HasFoldString(fn) || receiver != "" && fn == "open" && len(c.args()) > 1), builder(receiver, fn, c):
		return "http-method"
	case (httpClientKnown(receiver) || requestLike.HasFoldString(fn)) && c.unknownMethod(receiver, fn):
		return "http-unknown-method"
	case (fn == "urlopen" || fn == "request" && strings.Contains(receiver, "urllib") || name == unbound+"Request" && !c.values.script) && (c.given("data") || c.arg(1) != nil && !c.none(c.arg(1))):
		return "http-body"
	case fn == "sendbeacon":
		return "http-beacon"
	case (fn == "setopt" || fn == "curl_easy_setopt" || fn == "curl_setopt") && (curlWrites(c.arg(0)) || curlWrites(c.arg(1))):
		return "http-curl-option"
	case (fn == "send" || fn == "sendall" || fn == "write" || fn == "sendto") && c.rawRequest():
		return "http-raw-request"
	case httpWrites.HasFoldString(fn) && c.toServer(receiver, fn):
		return "http-" + fn
	}
	return ""
}

// toServer reports whether a method called post, put, patch or delete is one of a client of HTTP:
// by what its object is, what it is called, or what it is given.
func (c codeCall) toServer(receiver, fn string) bool {
	switch {
	case serverOf(receiver) || definesRoute(c):
		return false
	case httpClientKnown(receiver):
		return true
	case receiver == "":
		return fn != "del" && c.urlLike()
	}
	return strings.HasPrefix(receiver, unbound) && (clientOf(receiver) && len(c.args()) > 0 || c.urlLike() || c.named(httpOptions...) != nil && len(c.args()) > 1)
}

// builder reports whether a call makes a request of a class with the method in its name, or names
// the method in its second argument.
func builder(receiver, fn string, c codeCall) bool {
	switch fn {
	case "httppost", "httpput", "httppatch", "httpdelete":
		return len(c.args()) > 0
	case "new": // Post.new of Ruby
		return httpVerbs.HasFoldString(receiver[strings.LastIndexAny(receiver, "?.")+1:])
	case "request":
		return c.arg(1) != nil && c.isVerb(c.arg(1))
	}
	return false
}

// requestLike are functions that make or send requests, whatever they belong to.
var requestLike = text.Words(`fetch request ajax axios newrequest newrequestwithcontext urlopen build_request prepare_request httprequest
	send_request make_request fetchjson api_request $fetch stream putrequest endheaders http_request apifetch`)

// methodFirst are those of them whose first argument is the method.
var methodFirst = text.Words("request newrequest build_request prepare_request httprequest send_request make_request api_request stream putrequest http_request")

// method returns the method that a call names, "" when it names none.
func (c codeCall) method(receiver, fn string) string {
	n := c.methodNode(receiver, fn)
	if n == nil {
		return ""
	}
	for _, v := range c.values.values(n) {
		if httpVerbs.HasFoldString(v) {
			return strings.ToLower(v)
		}
	}
	if v, ok := c.values.one(n); ok && text.Lists("get head options trace connect", strings.ToLower(v)) {
		return strings.ToLower(v)
	}
	if _, name := splitPath(n.dotted()); strings.HasPrefix(strings.ToLower(name), "method") && httpVerbs.HasFoldString(name[len("method"):]) {
		return strings.ToLower(name[len("method"):]) // http.MethodPost
	} else if strings.HasPrefix(n.dotted(), "HttpMethod") && httpVerbs.HasFoldString(name) {
		return strings.ToLower(name)
	}
	return ""
}

// methodNode returns where a call names its method, nil where it does not.
func (c codeCall) methodNode(receiver, fn string) *node {
	n := c.named("method", "http_method", "verb")
	switch {
	case n != nil:
	case fn == "ajax":
		n = c.named("type")
	case fn == "newrequestwithcontext":
		n = c.arg(1)
	case methodFirst.HasFoldString(fn) || fn == "open" && receiver != "":
		n = c.arg(0)
	}
	return n
}

// unknownMethod reports whether a call has a method that is only known at run time.
func (c codeCall) unknownMethod(receiver, fn string) bool {
	n := c.methodNode(receiver, fn)
	return n != nil && !c.constant(n) && (c.named("method") == n || len(c.args()) > 1 && httpClientKnown(receiver) && !strings.Contains(receiver, "urllib."))
}

// isVerb reports whether an argument is a method that writes, in capitals.
func (c codeCall) isVerb(n *node) bool {
	v, ok := c.values.one(n)
	return ok && v == strings.ToUpper(v) && httpVerbs.HasFoldString(v)
}

func (c codeCall) constant(n *node) bool { return len(c.values.values(n)) > 0 }

// given reports whether an argument has a name and is not None.
func (c codeCall) given(name string) bool {
	n := c.named(name)
	return n != nil && !c.none(n)
}

func (c codeCall) none(n *node) bool {
	return n.kind == nodeName && (n.text == "None" || n.text == "null" || n.text == "undefined")
}

// urlLike reports whether the first argument is an address or a path on a server.
func (c codeCall) urlLike() bool {
	a := c.arg(0)
	if a == nil {
		a = c.named("url", "uri", "endpoint")
		return a != nil
	}
	text, ok := c.values.one(a)
	if !ok {
		name := strings.ToLower(a.text)
		return (a.kind == nodeName || a.kind == nodeAttr) && (strings.HasSuffix(name, "url") || strings.HasSuffix(name, "uri") || name == "endpoint" || name == "u")
	}
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "/") && len(text) > 1
}

// definesRoute reports whether a call tells a server what to do with requests: it ends with a function.
func definesRoute(c codeCall) bool {
	args := c.args()
	if len(args) < 2 {
		return false
	}
	last := args[len(args)-1]
	return last.kind == nodeChain && (slices.Contains(last.ops, "=>") || last.kids[0].text == "function")
}

// components yields the names of a path, in lower case and without brackets and prefixes.
func components(path string) []string {
	parts := strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return r == '.' || r == '/' })
	for i, p := range parts {
		parts[i] = strings.Trim(p, "?()_")
	}
	return parts
}

// httpClientKnown reports whether a path leads to what was imported as a client, or is called like a module of requests.
func httpClientKnown(receiver string) bool {
	return slices.ContainsFunc(components(receiver), httpClients.HasFoldString)
}

func clientOf(receiver string) bool {
	if httpClientKnown(receiver) {
		return true
	}
	parts := components(receiver)
	if len(parts) == 0 || !strings.HasPrefix(receiver, unbound) {
		return false
	}
	last := parts[len(parts)-1]
	return httpNames.HasFoldString(last) || strings.HasSuffix(last, "session") || strings.HasSuffix(last, "client") || strings.HasSuffix(last, "http")
}

func serverOf(receiver string) bool {
	parts := components(receiver)
	return len(parts) > 0 && (httpServers.HasFoldString(parts[0]) || httpServers.HasFoldString(parts[len(parts)-1]))
}

// curlWrites reports whether an option of libcurl makes a request write.
func curlWrites(option *node) bool {
	return option != nil && curlOptions.HasFoldString(strings.TrimPrefix(strings.ToUpper(option.text), "CURLOPT_"))
}

var curlOptions = text.Words("post postfields copypostfields postfieldsize httppost mimepost upload put customrequest readdata readfunction")

// rawRequest reports whether the text that is sent is the beginning of a request that writes.
func (c codeCall) rawRequest() bool {
	if c.arg(0) == nil {
		return false
	}
	text, _ := c.values.one(c.arg(0))
	verb, rest, ok := strings.Cut(text, " ")
	return ok && verb == strings.ToUpper(verb) && httpVerbs.HasFoldString(verb) && strings.Contains(rest, "HTTP/")
}
