package form

import (
	"regexp"
	"strings"
	"testing"
)

// What Secret, Public and Prompt find, as expressions, which take several times as long.
var (
	secretPaths = regexp.MustCompile(`(?i)(?:^|[/~=:])(?:etc/g?shadow-?|etc/sudoers(?:\.d/.*)?|etc/ssl/private|etc/krb5\.keytab|etc/wireguard/|proc/[^/]+/(?:environ|mem|maps)|proc/kcore|dev/k?mem|dev/port|run/secrets)` +
		`|(?:^|/)(?:\.ssh/(?:[^/]*_)?(?:id_|identity|rsa|(?s:.)*key)[^/]*|id_(?:rsa|dsa|ecdsa|ed25519)|\.aws/credentials|\.kube/config|\.docker/config\.json|\.netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.gnupg|\.npmrc|\.pypirc|\.vault-token|\.env(?:\.\w+)?|\.htpasswd|` +
		`terraform\.tfstate|[^/]+\.(?:pem|key|p12|pfx|jks|kdbx|keytab))$|/(?:credentials|secrets?|token)(?:\.\w+)?$|169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200`)
	publicKeys = regexp.MustCompile(`\.pub$|/(?:ca|cert|chain|fullchain|ca-certificates|cacert|server|client|tls)[\w.-]*\.pem$|(?:^|/)(?:cert|chain|fullchain|ca|cacert)\.pem$`)
	prompts    = regexp.MustCompile(`^(?:(?:[\w.-]+@)?[A-Za-z][\w.:-]*(?:\([\w.-]+\))?[#>]|<[A-Za-z][\w.-]*>|\[[~*]?[A-Za-z][\w./-]*\])\s*`)
)

// pieces are what paths and prompts are made of.
var pieces = strings.Fields(`/ . .. ~ = : etc/ /etc/shadow gshadow sudoers .d/ ssl/private krb5.keytab wireguard/ /proc/ 1/ self environ mem maps kcore dev/ kmem port run/secrets
	.ssh/ .SSH/ a_ id_ identity rsa key .pub id_rsa id_ed25519 .aws/ credentials .kube/ config .docker/ .json .netrc .env .env.local terraform.tfstate .pem .key .p12 .keytab
	/token token.txt secrets .yml 169.254.169.254 metadata.google.internal cert ca chain server -x tls fullchain cacert é ſ \u212a tKEY
	r1 # > ( ) (config-if) @ < [ ] * ~ - _ 7 user@host`)

// FuzzByHand holds that what is read by hand is what the expressions find.
func FuzzByHand(f *testing.F) {
	for _, a := range pieces {
		for _, b := range pieces {
			f.Add(a + b)
			f.Add("/" + a + "/" + b)
		}
	}
	f.Fuzz(func(t *testing.T, word string) {
		if got, want := Secret(word), secretPaths.MatchString(word); got != want {
			t.Errorf("%q is a path of secrets: got %v, want %v", word, got, want)
		}
		if got, want := Public(word), publicKeys.MatchString(word); got != want {
			t.Errorf("%q is a public key: got %v, want %v", word, got, want)
		}
		if got, want := Prompt(word), len(prompts.FindString(word)); got != want {
			t.Errorf("the prompt of %q ends: got %v, want %v", word, got, want)
		}
	})
}
