package tools

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/scanner/command"
)

func TestApprovedCommandsRunOnTheHost(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	program := "#!/bin/sh\necho \"reloaded $*\"; echo \"$SVC_TEST_SECRET\"\n"
	for path, text := range map[string]string{filepath.Join(bin, "nginx"): program, filepath.Join(root, "evil"): program} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", strings.Join([]string{".", "", root, bin, "/usr/bin", "/bin"}, ":"))
	t.Setenv("SVC_TEST_SECRET", "of the service")
	w := workspace{root: root}
	for _, tc := range []struct {
		name, line string
		approved   bool
		want, err  string
	}{
		{"approved", "nginx -s reload && mkdir made && ls -d made", true, "reloaded -s reload\n\nmade\n", ""},
		{"not approved", "nginx -s reload", false, "", "is not allowed"},
		{"a program that an agent may have written", "evil x", true, "", "exit code 127"},
		{"read-only commands are not run otherwise", "find . -name made", true, "", "is not allowed"},
		{"the exit code", "nginx; exit 7", true, "exit code 7", ""},
		{"what people do not see", "nginx \u202e-s reload", true, "", "U+202E is not allowed"},
		{"a letter without a look", "nginx \u3164-s reload", true, "", "U+3164 is not allowed"},
		{"a control character", "nginx \x1b[2K", true, "", "U+001B is not allowed"},
		{"a long line", "nginx " + strings.Repeat("x", maxLine), true, "", "longer than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, err := commandsIn(w).run(t.Context(), agents.ToolContext{Approved: tc.approved}, map[string]any{"command": tc.line})
			got := res.Text
			if err != nil {
				got = err.Error()
			}
			want := tc.want + tc.err
			if !strings.Contains(got, want) || strings.Contains(got, "of the service") || tc.err == "" && err != nil {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(root, "made")); err != nil {
		t.Errorf("the command did not run in the project root: %v", err)
	}
}

// What may need approval says where it would run, and it is what an approval runs there.
func TestWhereACallWouldRun(t *testing.T) {
	for line, want := range map[string]place{
		"df -h": direct, "find .": reading, "df -h | sort": reading, "touch x": writing, "df -h > x": writing,
		"touch /etc/x": host, "reboot": host, "nginx -s reload": host, "python3 x.py": host,

		"mkdir -p a && cp x a": writing, "sed -i s/a/b/ x": writing, "tar -xzf a.tgz": writing, "git add .": writing, "chmod u+x x": writing,
		"ip link set eth0 up": host, "ip addr add 10.0.0.1/24 dev eth0": host, "systemctl start nginx": host, "systemctl restart nginx": host,
		"service nginx start": host, "sysctl -w vm.swappiness=1": host, "mount /dev/sdb1 mnt": host, "hostname box1": host,
		"iptables -A INPUT -j DROP": host, "nft add table inet t": host, "useradd bob": host, "date -s 12:00": host, "modprobe dummy": host,
		"kill 1234": host, "apt install nginx": host, "make install": host, "npm install": host, "git push": host, "docker pull nginx": host,
		"curl -o x https://example.org": host, "sudo touch x": host, "cp /etc/hosts x": host, "cat /etc/hosts > x": host, "chown bob x": host,
		"touch x; ip link set eth0 up": host,
	} {
		if got := commandsIn(workspace{root: t.TempDir()}).classify(map[string]any{"command": line}).Where; got != string(want) {
			t.Errorf("%s (%s): got %q, want %q", line, command.Analyze(line).Class, got, want)
		}
	}
}

// remembered is a sandbox that runs nothing.
type remembered struct{ binds []sandbox.Bind }

func (r *remembered) Run(_ context.Context, s sandbox.Spec) (sandbox.Result, error) {
	r.binds = append(r.binds, s.Binds...)
	return sandbox.Result{Stdout: "in the sandbox\n"}, nil
}

// Each line runs where its approval says: in the sandbox, with or without leave to write in the root, or
// on the host, and there only when somebody has approved it.
func TestACallRunsWhereItSays(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"ip", "systemctl", "sysctl", "mount", "hostname", "useradd", "make"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho on the host: ${0##*/} $*\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	root := t.TempDir()
	for _, tc := range []struct {
		line string
		want place
		says string
	}{
		{"find . | sort", reading, "in the sandbox\n"},
		{"touch x", writing, "in the sandbox\n"},
		{"mkdir -p a && mv b a", writing, "in the sandbox\n"},
		{"ip link set eth9 mtu 1400", host, "on the host: ip link set eth9 mtu 1400\n"},
		{"systemctl start svc-test", host, "on the host: systemctl start svc-test\n"},
		{"sysctl -w svc.test=1", host, "on the host: sysctl -w svc.test=1\n"},
		{"mount svc-test mnt", host, "on the host: mount svc-test mnt\n"},
		{"hostname svc-test", host, "on the host: hostname svc-test\n"},
		{"useradd svc-test", host, "on the host: useradd svc-test\n"},
		{"make install", host, "on the host: make install\n"},
	} {
		t.Run(tc.line, func(t *testing.T) {
			box := new(remembered)
			c := commands{workspace{root: root}, box, command.Analyze}
			args := map[string]any{"command": tc.line}
			if got := c.classify(args).Where; got != string(tc.want) {
				t.Fatalf("got %q, want %q", got, tc.want)
			}
			r, err := c.run(t.Context(), agents.ToolContext{}, args)
			if tc.want == host {
				if err == nil || !strings.Contains(err.Error(), "a person has to approve") {
					t.Errorf("not approved: got %q, %v", r.Text, err)
				}
				r, err = c.run(t.Context(), agents.ToolContext{Approved: true}, args)
			}
			if err != nil || r.Text != tc.says {
				t.Errorf("got %q, %v, want %q", r.Text, err, tc.says)
			}
			inside := len(box.binds) > 0
			writable := slices.ContainsFunc(box.binds, func(b sandbox.Bind) bool { return b.Writable })
			if inside != (tc.want != host) || writable != (tc.want == writing) {
				t.Errorf("got %+v in the sandbox", box.binds)
			}
		})
	}
}
