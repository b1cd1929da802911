package command

import (
	"strings"
	"testing"
)

// What a line of the class Mutate needs. Those that are confined run in a sandbox without asking, so that
// each of the others is one that would fail there, or may.
func TestConfined(t *testing.T) {
	for _, tc := range []struct {
		line string
		want bool
	}{
		{"touch x", true},
		{"mkdir -p out && touch out/a", true},
		{"echo hi >> notes.md", true},
		{"echo /etc/passwd https://x.example > notes.md", true},
		{"df -h > report.txt", true},
		{"cp a b", true},
		{"cp -r a b/", true},
		{"cp --target-directory=out a", true},
		{"mv a b; rm b", true},
		{"ln -s a b", true},
		{"install -m 644 a b", true},
		{"chmod u+x run.sh", true},
		{"chmod a=rx run.sh", true},
		{"tar -xzf bundle.tgz", true},
		{"tar -C out -xf bundle.tar", true},
		{"unzip -d out a.zip", true},
		{"gzip -9 a", true},
		{"zip -r a.zip docs", true},
		{"sed -i s/a/b/ x", true},
		{"sed -i.bak -E s/a+/b/g x", true},
		{"sed -i -e s/a/b/ -e s/c/d/ x", true},
		{"sed -i /a/d x", true},
		{"grep /api access.log | sort > hits", true},
		{"cat a | tee b", true},
		{"cat <<EOF > x\n/etc\nEOF", true},
		{"sort < a > b", true},
		{"dd if=/dev/zero of=x bs=1k count=1", true},
		{"truncate -s 0 x > /dev/null 2>&1", true},
		{"find . -name '*.o' -fprint list", true},
		{"find . -name '*.sh' -exec chmod u+x {} +", true},
		{"timeout 5 touch x", true},
		{"nice -n 5 gzip a", true},
		{"env LANG=C touch x", true},
		{"/bin/touch x", true},
		{"bash -c 'touch x && mv x y'", true},
		{"d=out; mkdir $d", true},
		{"if test -f a; then touch b; fi", true},
		{"git add . && git commit -m 'done: /etc is not touched'", true},
		{"git checkout -b topic", true},
		{"patch -p1 < a.diff", true},
		{"rm *.log", true},
		{"cd sub && touch x", true},
		{"sleep 1 && touch x &", true},

		// Services, interfaces, the kernel, packages, users, time.
		{"ip link set eth0 up", false},
		{"ip link set lo mtu 1400", false},
		{"ip addr add 10.0.0.1/24 dev eth0", false},
		{"ip route add default via 10.0.0.1", false},
		{"ifconfig eth0 up", false},
		{"route add default gw 10.0.0.1", false},
		{"systemctl start nginx", false},
		{"systemctl enable nginx", false},
		{"service nginx start", false},
		{"sysctl -w net.ipv4.ip_forward=1", false},
		{"mount /dev/sdb1 mnt", false},
		{"mount -t tmpfs none mnt", false},
		{"hostname box1", false},
		{"timedatectl set-timezone UTC", false},
		{"nmcli connection up lan", false},
		{"apt install nginx", false},
		{"dpkg -i a.deb", false},
		{"rpm -i a.rpm", false},
		{"docker pull nginx", false},
		{"kubectl apply -f a.yaml", false},
		{"npm install", false},
		{"npm test", false},
		{"go build ./...", false},
		{"make", false},
		{"make install", false},
		{"interface Gi0/1\n no shutdown", false},
		{"CREATE TABLE t (a int)", false},

		// Other rights, other hosts, the network.
		{"sudo df -h", false},
		{"sudo touch x", false},
		{"su -c 'touch x'", false},
		{"doas mkdir x", false},
		{"scp a host:b", false},
		{"rsync a host:b", false},
		{"rsync -a a b", false},
		{"curl -o x https://example.org", false},
		{"git push", false},
		{"git pull", false},
		{"git fetch", false},
		{"git clone https://example.org/a", false},
		{"git submodule update", false},
		{"git remote add a https://example.org/a", false},
		{"tar -xf host:a.tar", false},
		{"aws s3 cp a s3://b", false},
		{"chown bob x", false},
		{"chgrp staff x", false},
		{"install -o root a b", false},

		// Files elsewhere, also those that are only read.
		{"cp /etc/hosts x", false},
		{"cp ~/.ssh/id x", false},
		{"cp ../a b", false},
		{"cat /etc/hosts > x", false},
		{"cat < /etc/hosts > x", false},
		{"sort < ../x > y", false},
		{"ln -s /etc/passwd x", false},
		{"tar -cf x.tar /etc", false},
		{"tar -cf x.tar --directory=/etc .", false},
		{"tar -cf x.tar -C/etc .", false},
		{"sed -i s/a/b/ x ../y", false},
		{"grep -f /etc/x a > b", false},
		{"grep -e a -- /etc/x > b", false},
		{"jq -f /etc/x a > b", false},
		{"dd if=/dev/sda of=x", false},
		{"find /etc -fprint x", false},
		{"patch -p1 < /tmp/a.diff", false},
		{"test -f /etc/x && touch y", false},
		{"[[ -f /etc/x ]] && touch y", false},

		// One of several, and what carries others.
		{"touch x; ip link set eth0 up", false},
		{"touch x | systemctl start nginx", false},
		{"touch $(hostname box1)", false},
		{"bash -c 'touch x; ip link set eth0 up'", false},
		{"find . -exec ip link set eth0 up ';'", false},
		{"timeout 5 systemctl start nginx", false},
		{"env LANG=C systemctl start nginx", false},
		{"fakeroot touch x", false},
		{"sed -i '1e ip link set eth0 up' x", false},
		{"sed -i 's/a/b/e' x", false},
		{"sed -i -e s/a/b/ -e '1e ip link set eth0 up' x", false},
		{"sed -i --expression='1e ip link set eth0 up' x", false},
		{"sed -i s/a/b/ -e '1e ip link set eth0 up' x", false},
		{"git rebase --exec 'ip link set eth0 up' main", false},
		{"git bisect run make", false},
		{"bash --rcfile x -ic 'touch y'", false},
		{"split --filter='ip link set eth0 up' a b", false},
		{"install --strip-program=./x a b", false},
		{"find . -exec sh -c 'ip link set eth0 up' ';'", false},
		{"dbus-run-session touch x", false},
		{"flock /run/lock touch x", false},
		{"systemctl status nginx > x", false},
		{"docker ps > x", false},
		{"ip addr > x", false},
		{"curl -s https://example.org > x", false},
	} {
		c := Analyze(tc.line)
		if c.Confined != tc.want {
			t.Errorf("%s (%s %v): got confined %t, want %t", tc.line, c.Class, c.Categories, c.Confined, tc.want)
		}
		if c.Confined && c.Class != Mutate {
			t.Errorf("%s: confined and %s", tc.line, c.Class)
		}
	}
}

// What is dangerous or unknown is never confined, nor what only reads.
func TestOnlyChangesAreConfined(t *testing.T) {
	for _, line := range []string{"", "ls", "cat a | sort", "rm -r x", "touch /etc/x", "touch $X", "./make", "python3 x.py", "kill 1", "kill -9 7", "iptables -F", "nft flush ruleset", "useradd bob", "date -s 12:00", "modprobe x", "frobnicate"} {
		if c := Analyze(line); c.Confined {
			t.Errorf("%q is confined: %+v", line, c)
		}
	}
}

// A confined line stays confined whatever it is joined with only if that is confined too.
func FuzzConfined(f *testing.F) {
	for _, s := range []string{"touch x", "cp a b; ls", "systemctl start nginx", "sh -c 'touch x'", "cat a > b", "cp ../a b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := Analyze(line)
		if c.Confined && (c.Class != Mutate || len(c.Categories) > 0) {
			t.Errorf("%q: %+v", line, c)
		}
		if strings.ContainsAny(line, "\n#<\\'\"`$(){}") {
			return
		}
		if joined := Analyze("ip link set eth0 up; " + line); joined.Confined {
			t.Errorf("%q is confined behind another command", line)
		}
		if joined := Analyze(line + "; ip link set eth0 up"); joined.Confined && c.Class != Unknown {
			t.Errorf("%q is confined before another command", line)
		}
	})
}
