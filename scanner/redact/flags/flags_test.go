package flags_test

import (
	"testing"

	"github.com/svc-gateway/svc/scanner/redact"
	"github.com/svc-gateway/svc/scanner/redact/flags"
)

func TestOf(t *testing.T) {
	apart, attached, both := flags.Option{Apart: true}, flags.Option{Attached: true}, flags.Option{Apart: true, Attached: true}
	for _, tc := range []struct {
		line string
		want flags.Option
	}{
		{"mysql -u root -p", attached},
		{"kubectl exec db-0 -- /usr/bin/mysqldump -p", attached},
		{"root  812  0.0 mysqldump -h db -p", attached},
		{"mysql -h mysql -p", attached},
		{"docker login -u bob -p", apart},
		{"docker run -p", flags.Option{}},
		{"docker run --name mongo -p", flags.Option{}},
		{"docker run --name=mongo -p", flags.Option{}},
		{"snmpwalk -v2c -c", both},
		{"snmpwalk -v2c -C", flags.Option{}},
		{"ls | grep -c", flags.Option{}},
		{"snmpwalk x | grep -c", flags.Option{}},
		{"curl -s -u", flags.Option{Apart: true, Attached: true, Login: ':'}},
		{"curl --user", flags.Option{Apart: true, Login: ':'}},
		{"sort -u", flags.Option{}},
		{"-p", flags.Option{}},
		{"", flags.Option{}},
	} {
		if got := flags.Of([]byte(tc.line)); got != tc.want {
			t.Errorf("%q: got %+v, want %+v", tc.line, got, tc.want)
		}
	}
}

// What people type, and what tells of it: ps, histories, logs.
func TestRedacted(t *testing.T) {
	for in, want := range map[string]string{
		"mysql -p'two words' app":                         "mysql -p'REDACTED' app",
		"mysql -p app":                                    "mysql -p app",
		"mysql -u root -phunter2":                         "mysql -u root -pREDACTED",
		"mysql --port=3306 -pabc":                         "mysql --port=3306 -pREDACTED",
		"mysql -p$PASS app":                               "mysql -p$PASS app",
		"mysql -p\"$PASS\" app":                           "mysql -p\"$PASS\" app",
		"docker login -u bob -p hunter2 reg.example.com":  "docker login -u bob -p REDACTED reg.example.com",
		"docker run --name mongo -p 27017:27017 mongo":    "docker run --name mongo -p 27017:27017 mongo",
		"ldapsearch -x -D cn=admin -w swordfish -b dc=x":  "ldapsearch -x -D cn=admin -w REDACTED -b dc=x",
		"snmpget -v3 -u bob -A authpass -X privpass host": "snmpget -v3 -u bob -A REDACTED -X REDACTED host",
		"ipmitool -H bmc1 -U admin -P hunter2 power":      "ipmitool -H bmc1 -U admin -P REDACTED power",
		`smbclient //srv/share -U 'corp\bob%hunter2'`:     `smbclient //srv/share -U 'corp\bob%REDACTED'`,
		"redis-server --requirepass foobared":             "redis-server --requirepass REDACTED",
		"redis-cli -h x -a hunter2 ping":                  "redis-cli -h x -a REDACTED ping",
		"sshpass -phunter2 ssh host":                      "sshpass -pREDACTED ssh host",
		"sshpass -p hunter2 ssh host":                     "sshpass -p REDACTED ssh host",
		"7z x -phunter2 a.7z":                             "7z x -pREDACTED a.7z",
		"curl -ubob:hunter2 https://example.com":          "curl -ubob:REDACTED https://example.com",
		"curl --user=bob:hunter2 https://example.com":     "curl --user=bob:REDACTED https://example.com",
		"curl --user 'bob:hunter2' https://example.com":   "curl --user 'bob:REDACTED' https://example.com",
		"curl -u bob https://example.com:80":              "curl -u bob https://example.com:80",
		"mkdir -p a/b; cp -p a b; ps -p 1; tar -c x":      "mkdir -p a/b; cp -p a b; ps -p 1; tar -c x",
	} {
		if got := redact.Text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		s := redact.NewTextStream()
		var out []byte
		for i := range len(in) {
			out = s.Append(out, []byte(in[i:i+1]))
		}
		if got := string(s.Close(out)); got != want {
			t.Errorf("%q in pieces: got %q, want %q", in, got, want)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	line := []byte("The option -a of ls lists what begins with a dot; cp -p, tar -c and grep")
	line = append(line, " -c"...)
	b.ReportAllocs()
	for b.Loop() {
		flags.Of(line)
	}
}
