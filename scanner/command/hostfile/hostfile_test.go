package hostfile_test

import (
	"testing"

	"github.com/svc-gateway/svc/scanner/command"
	"github.com/svc-gateway/svc/scanner/command/hostfile"
	"github.com/svc-gateway/svc/scanner/command/usage"
)

func TestPublic(t *testing.T) {
	for _, tt := range []struct {
		line string
		want bool
	}{
		{"head -n 2 /var/log/syslog", true},
		{"tail -n 50 /var/log/nginx/error.log", true},
		{"grep -i error /var/log/syslog", true},
		{"grep -c a/b /var/log/syslog", true},
		{"awk '/error/ {print $1}' /var/log/syslog", true},
		{"cut -d: -f1 /etc/passwd", true},
		{"cat /proc/cpuinfo /proc/1/status /sys/class/net/eth0/mtu", true},
		{"cat /var/log/*.log", true},
		{"ls -la /root", true},
		{"find / -name core -size +1M", true},
		{"du -sh /home", true},
		{"df -h", true},
		{"systemctl status nginx", true},
		{"ps aux | sort -k3 | head -n 5", true},
		{"ip addr show eth0", true},
		{"uname -a; uptime", true},
		{"dd if=/proc/cpuinfo", true},
		{"docker ps", true},
		{"systemctl list-units --failed", true},
		{"sed -n 1,5p /var/log/syslog", true},
		{"sort -t : -k 3 /etc/passwd", true},
		{"journalctl -u ssh -n 20", true},
		{"cat /etc/ssh/sshd_config", true},
		{"tr a-z A-Z < /etc/hostname", true},

		{"head -n 2 /etc/shado?", false},
		{"cut -c1-20 /etc/sh?dow", false},
		{"cat /proc/self/envir*", false},
		{"tail -n +2 /tmp/x/.s*/id*", false},
		{"rev /tmp/home/tok??", false},
		{"cat /etc/ssh/ssh_host_rsa_key", false},
		{"cat /root/.bash_history", false},
		{"cat .bash_history", false},
		{"cat ~/.ssh/config", false},
		{"cat *", false},
		{"cat /etc/ppp/chap-secrets", false},
		{"cat /etc/kubernetes/admin.conf", false},
		{"grep -r . /root", false},
		{"grep -rn error /var/log/nginx", true},
		{"grep -rin -A3 --include='*.log' error /var/log/nginx /usr/share/doc", true},
		{"grep -r -m 1 /var/log/nginx", false}, // where it runs
		{"grep -r --max-count 1 /var/log/nginx", false},
		{"grep -rf x /var/log/nginx", false},
		{"grep --recursive a /etc/sysctl.d/", true},
		{"grep -rle error /var/log/nginx", false}, // the pattern may be anywhere
		{"grep -r error /var/log", false},         // what an installer was told
		{"grep -r error /var/log/", false},
		{"grep -r error /var/log/nginx/..", false},
		{"grep -r error /var/log/installer", false},
		{"grep -r error /var/log/private", false},
		{"grep -r error /var/log/.x", false},
		{"grep -R error /var/log/nginx", false},
		{"grep -rR error /var/log/nginx", false},
		{"grep --dereference-recursive a /var/log/nginx", false},
		{"grep --rec a /var/log/nginx", false},
		{"grep -d recurse a /var/log/nginx", false},
		{"grep -r error /var/log/nginx /root", false},
		{"grep -r error /var/log/nginx x", false},
		{"grep -r error 3", false},
		{"grep -r /var/log/nginx", false},
		{"grep -r error -- /var/log/nginx", false},
		{"dmesg | grep -i error -", true},
		{"grep - /var/log/syslog", true},
		{"grep - /root/x", false}, // a - is the pattern
		{"grep -m1 - /root/x", false},
		{"zgrep - /root/x", false},
		{"grep -r - /root /var/log/nginx", false},
		{"grep -- - /root/x", false},
		{"grep -- -x /root/x", false}, // -x is the pattern
		{"grep -r error /sys/class", false},
		{"grep -r error /proc/net", false},
		{"grep -f /root/x /etc/hosts", false},
		{"grep -f/root/x /etc/hosts", false},
		{"grep -e x /root/y /etc/hosts", false},
		{"grep -ne /root/x /etc/hosts", false},
		{"grep --reg=. /root/x", false},
		{"find /root -name x -exec cat {} +", false},
		{"xargs -a /root/x echo", false},
		{"xargs --arg-file=/root/x printf %s", false},
		{"du --f=/root/x", false},
		{"findmnt -F /root/x", false},
		{"cat /var/log/.?/.?/root/x", false},
		{"cat /var/log/*/x", false},
		{"awk 'BEGIN{ARGV[1]=\"\\057root\\057x\";ARGC=2}{print}'", false},
		{"grep -r x", false},
		{"grep -rn x .", false},
		{"grep -r . /proc/sys/net/ipv4", false},
		{"rg x", false},
		{"cat notes.txt", false},
		{"cat x | head", false},
		{"dd if=x", false},
		{"sed -n 'r x' /etc/hosts", false},
		{"while read l; do echo $l; done < x", false},
		{"git show HEAD:x", false},
		{"sqlite3 x 'select 1'", false},
		{"cat /usr/lib/ssl/private/x", false},
		{"cat /sys/class/iscsi_session/session1/password", false},
		{"cat /proc/sys/net/ipv6/conf/all/stable_secret", false},
		{"cat /var/log/installer/autoinstall-user-data", false},
		{"redis-cli config get requirepass", false},
		{"psql -c 'select 1'", false},
		{"crontab -l -u root", false},
		{"systemctl show x", false},
		{"systemctl cat x", false},
		{"docker inspect x", false},
		{"jq -n env", false},
		{"date -f /root/x", false},
		{"wc --files0-from=/root/x", false},
		{"cat /var/log/../../root/x", false},
		{"cat $F", false},
		{"cat /var/log/$F", false},
		{"cat $(echo /root/x)", false},
		{"echo /root/x | xargs cat", false},
		{"cat < /root/x", false},
		{"sort /root/x", false},
		{"cd /root && cat x", false},
		{"sed -n 'r /root/x' /etc/hosts", false},
		{"cat /proc/1/root/etc/shadow", false},
		{"cat /proc/self/cwd/x", false},
		{"/bin/cat /root/x", false},
		{"sudo cat /root/x", false},
		{"openssl x509 -in /root/x -noout -text", false},
	} {
		c := command.AnalyzeHost(tt.line)
		if got := c.Class == command.ReadOnly && len(c.Traits) == 0; got != tt.want {
			t.Errorf("%s: got %v (%s, %v), want %v", tt.line, got, c.Class, c.Traits, tt.want)
		}
	}
}

// A word that is known at run time only names a file that nobody knows.
func TestNotKnown(t *testing.T) {
	if hostfile.Public("cat", []usage.Word{{Text: "/var/log/x", Head: "/var/log/"}}) {
		t.Error("a word of which the end is not known is public")
	}
}
