package wiretest

import "strings"

// secret is a text with a secret in it.
type secret struct {
	name   string
	text   string
	hidden string // what must not come out
}

// Parts of secrets, which nothing else has.
const (
	random  = "Zx81Qm0aVb72Lc93NdKe64PfRg05ShTi1Uj2"
	pemLine = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfnygWyF8PbnGy0AHB7MaC8U7mJ0Y8Hc1Qe"
)

// secrets are one for each way in which a secret may be known.
var secrets = []secret{
	{"assignment", "then set password=hunter2x9 and go on", "hunter2x9"},
	{"word and colon", "api_key: 'kQ7tYu2IoP9a' is old", "kQ7tYu2IoP9a"},
	{"behind a line end", "first\napi_key: 'kQ7tYu2IoP9a'\nlast", "kQ7tYu2IoP9a"},
	{"prose", "The password for bob is Hunter2x9, he said.", "Hunter2x9"},
	{"command", "mysql --password hunter2x9 -u root db", "hunter2x9"},
	{"URL", "see postgres://bob:hunter2x9@db:5432/x for more", "hunter2x9"},
	{"bearer", "Authorization: Bearer " + random + "\nAccept: */*", random},
	{"vendor's token", "use ghp_" + random + " now", random},
	{"AWS", "id AKIAQ3EGRIL2VN7UTXJ5 of it", "AKIAQ3EGRIL2VN7UTXJ5"},
	{"JSON web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl and more", "c2lnbmF0dXJl"},
	{"private key", "k:\n-----BEGIN RSA PRIVATE KEY-----\n" + pemLine + "\n" + pemLine + "\n-----END RSA PRIVATE KEY-----\nend", pemLine[5:30]},
	{"device", "hostname x\ntacacs-server key 7 0822455D0A16\nend", "0822455D0A16"},
	{"Junos", "set protocols ospf interface ge-0/0/0 authentication md5 0 key \"hunter2x9\"\ncommit", "hunter2x9"},
	{"markup", "<user><password>hunter2x9</password></user>", "hunter2x9"},
	{"YAML block", "a:\n  password: |\n    hunter2x9\n  user: bob\n", "hunter2x9"},
	{"JSON in text", "the answer was {\"password\": \"hunter2x9\", \"n\": 1} there", "hunter2x9"},
	{"cookie", "Set-Cookie: sessionid=q2Lr9Tn4Vd0WkJm3; Path=/\nDate: x", "q2Lr9Tn4Vd0WkJm3"},
	{"Telegram", "bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw7/getMe", "HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw7"},
	{"none", "The ghost of the tokens sat on disks, and the keys -- all of them -- were lost; see http://localhost:2280/health.", ""},
	{"nothing to see", "Plain words go by here, one after the other, and nobody minds them at all.", ""},
}

// leads are texts that stand before the secret.
var leads = []string{"", "Well. ", "-", "{\"a\":1}\n", "[0] ", "\n\n", "🙂 – ", "\"quoted\" ", "a: b\n", strings.Repeat("x y ", 40)}
