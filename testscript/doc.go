// Package testscript tests the service as its users have it: the real binary, driven by the
// readable scripts in testdata.
//
//	CGO_ENABLED=0 go test ./testscript                          all scripts
//	CGO_ENABLED=0 go test ./testscript -run 'TestScripts/reload' one of them
//	SVC_BINARY=build/service go test ./testscript               with that binary
//
// The scripts of the recipes and those in testdata/stages are also run with a Caddy that has the stages
// only, built of the main package in README.md.
//
// Each script has a HOME, a data folder and a port ($PORT) of its own, and the binary in its
// PATH as service; the scripts run in parallel and what they start is ended after them. $CLIENTS is
// the folder with published clients for Node.js, which .ci/setup installs ([clients]), $SKILLS the one with
// the skills that are shipped as examples. A script
// that holds an attack off is named <name>-regression.txtar and tells the attack at its head.
//
// Beside the commands of github.com/rogpeppe/go-internal/testscript there are:
//
//	adduser VAR NAME [FLAG…]      add a user; the token is in $VAR
//	as VAR|nobody                 whose token the next requests send; at first that of the file
//	http [-H LINE] [-u USER:PASSWORD] [-d BODY] METHOD PATH [FILE]
//	                              a request; stdout is the whole answer; from status 400 on it fails
//	flood [-stall D] N …          like http, N times, 40 at once, {n} is the number; stdout is how often
//	                              each status came; with -stall slapd answers nobody for that long
//	raw FILE                      the file's bytes over TCP, then the end; stdout is the answer
//	ask [-agent A] [-thread T] [-user U] QUESTION
//	                              POST /runs/stream; stdout is the stream, stderr the joined answer
//	sse …                         like http, for a stream that is read to its end
//	stream NAME [-n N] [-slow] …  like http, opens N streams that go on; -slow reads a byte a second
//	await NAME REGEXP             until all streams of NAME have received something like it
//	finish NAME                   until they have ended; stdout is what each received, once
//	leave NAME                    hang up
//	upstream                      a foreign server at $UPSTREAM; what it receives is in upstream.log
//	model [-sequence] FILE        a language model with the turns in FILE, before web start; what it
//	                              is asked is in model.log
//	slapd start|stop|pause|resume a directory with the people of package ldaptest, at $LDAP_URL
//	redis start|stop|pause|resume a Redis at $REDIS, which is empty after each start
//	lender start PROVIDER|break JSON|left|calls
//	                              a provider of sandboxes that the settings point to; has things go wrong,
//	                              prints how many sandboxes are left, or what it was asked for
//	gateway NAME                  what comes next is about one of several services, in the data folder
//	                              $HOME/NAME and on a port of its own
//	issuer start|down|up|rotate NAME
//	                              an identity provider at $NAME; its client's secret is $OIDC_SECRET
//	jwt [-by NAME] [-alg A] [-kid K] [-key stranger|public] [-header JSON] [-pad N] [-deep N]
//	    [-change OLD=>NEW] VAR [CLAIMS]
//	                              $VAR is a token of the issuer $ISSUER, or NAME: good, but for what
//	                              is said of it
//	release                       let the model and the upstream go on where they hold back
//	capture VAR REGEXP            the first group of what stdout holds becomes $VAR
//	later VAR DURATION            $VAR is the time in a while, as in RFC 3339
//	until REGEXP COMMAND ARG…     repeat a command or program until its output is like that
//	port VAR…                     $VAR is one more port that nobody else gets
//	serve FILE                    start the service with this Caddyfile, and wait until it listens
//	recipe [-global LINE] NAME [OLD=>NEW…]
//	                              write the Caddyfile of docs/recipes/NAME.md with other names
//	example HEADING FILE [OLD=>NEW…]
//	                              write the JSON document below a heading of docs/json.md in the same way
//	certificate NAME cn:X|dns:X|email:X|uri:X|stranger…
//	                              write NAME.pem, signed by the authority in ca.pem; http -cert FILE
//	                              is over TLS with it
//	mode PERM FILE…               the files have these permissions, in octal
//	repeat FILE A N UNIT B        write A, N times UNIT, and B
//	waithealth                    until GET /health answers
//	kill9, sigterm, gone          end the service at once; ask it to end; until it is gone
//	tmpfs DIR SIZE                mount a small file system (only under the condition [mount])
//
// A command that waits gives up after half a minute. The tests need Linux, where processes are
// found in /proc. A helper serves one script at a time and is safe for that.
package testscript
