package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What docs/policy.md shows can be used as it stands: its rules are one policy, and its cases pass.
func TestDocumentedRules(t *testing.T) {
	doc, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("SVC_HOME", home)
	policies := filepath.Join(home, "policies")
	if err := os.Mkdir(policies, 0o700); err != nil {
		t.Fatal(err)
	}
	rules, cases := 0, 0
	for i, block := range strings.Split(string(doc), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		name := fmt.Sprintf("%d.yaml", i)
		if strings.Contains(block, "  call:") {
			name = fmt.Sprintf("%d_test.yaml", i)
			cases++
		} else {
			rules++
		}
		if err := os.WriteFile(filepath.Join(policies, name), []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if rules < 4 || cases < 1 {
		t.Fatalf("got %d blocks of rules and %d of cases", rules, cases)
	}
	tests, err := filepath.Glob(filepath.Join(policies, "*_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"policy", "check"}, append([]string{"policy", "test"}, tests...)} {
		root := newRoot()
		var out, stderr bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&stderr)
		root.SetArgs(args)
		if err := root.Execute(); err != nil {
			t.Errorf("service %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), stderr.String())
		}
	}
}
