package remote

import (
	"fmt"
	"strings"
)

// exitNoProgram is the end of the script where there is no such program.
const exitNoProgram = 127

// script is what runs a program in a sandbox, in the words of every sh: the workspace is the folder,
// nothing of the provider's environment but the search path is there, and both outputs go to files, so
// that they come back apart and whole. A file of more than workspace bytes ends its writer (SIGXFSZ).
// The program gets a session of its own, by which [job.packLine] stops what it has left running. How it
// ended is in the file exit.
func script(j job, env []string, workspace int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "d=%s\n", j.dir())
	fmt.Fprintf(&b, "command -v %s >/dev/null 2>&1 || exit %d\n", quote(j.args[0]), exitNoProgram)
	b.WriteString("cd \"$d\"/workspace || exit 1\n")
	fmt.Fprintf(&b, "ulimit -f %d\n", max(1, (workspace+511)/512)) // in units of 512 bytes, POSIX says
	b.WriteString("session=$(command -v setsid)\n")
	b.WriteString("$session env -i PATH=\"$PATH\" HOME=\"$d\"/workspace TMPDIR=/tmp LC_ALL=C.UTF-8")
	for _, word := range append(env[:len(env):len(env)], j.args...) {
		b.WriteString(" " + quote(word))
	}
	b.WriteString(" </dev/null >\"$d\"/stdout 2>\"$d\"/stderr &\n")
	b.WriteString("echo $! >\"$d\"/pid\nwait $!\necho $? >\"$d\"/exit\n")
	return b.String()
}

// quote makes one word of sh of any text.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// runLine unpacks what was sent and runs it. Lines have no quotes: providers differ in how they read them.
func (j job) runLine() string {
	return fmt.Sprintf("mkdir -m 700 %[1]s && tar -xf %[2]s -C %[1]s && sh %[1]s/run.sh", j.dir(), j.in())
}

// packLine stops what still runs and packs the result, of at most limit bytes, the outputs first.
func (j job) packLine(limit int64) string {
	what := "out err exit"
	if j.collect {
		what += " workspace"
	}
	return fmt.Sprintf("cd %s && { kill -9 -$(cat pid) ; kill -9 $(cat pid) ; touch stdout stderr exit ; head -c %d stdout >out ; head -c %[2]d stderr >err ; "+
		"tar -cf - %s | head -c %d >%s ; } 2>/dev/null", j.dir(), j.keep+1, what, limit, j.out())
}
