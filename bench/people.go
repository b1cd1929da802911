package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// peopleCommand is the argument that makes this program a directory and the people in it who log
// in: processes of their own, at the lowest priority. They stand for other machines, and would
// otherwise take from the service, and from the client whose waiting is measured, the processors
// that they have to share. Next to other busy programs they get nowhere, and logins end with 503.
const peopleCommand = "people"

const (
	manyLogins = 1000 // people who log in at the same moment
	manyGroup  = "bench"
	password   = "bench-password"
)

// runPeople starts a directory in the folder, and a server that lets everybody in without a look,
// and says where they are. Then it has everybody log in at each URL that comes in, and says how that
// ended. It ends with its standard input.
func runPeople(dir string, in io.Reader, out io.Writer) (err error) {
	directory, err := ldaptest.Start(dir)
	if err != nil {
		return fmt.Errorf("starting a directory (.ci/setup installs slapd): %w", err)
	}
	defer func() { err = errors.Join(err, directory.Close()) }()
	if err := directory.Modify(entries(manyLogins)); err != nil {
		return err
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"token":"of nobody"}`) // who asks notices what is missing
	}))
	defer elsewhere.Close()
	if _, err := fmt.Fprintln(out, directory.TLSURL, directory.CAFile, elsewhere.URL); err != nil {
		return fmt.Errorf("telling where the directory is: %w", err)
	}
	urls := bufio.NewScanner(in)
	for urls.Scan() {
		outcome := "ok"
		if err := logInAll(urls.Text(), manyLogins); err != nil {
			outcome = strings.ReplaceAll(err.Error(), "\n", " ")
		}
		if _, err := fmt.Fprintln(out, outcome); err != nil {
			return fmt.Errorf("telling the outcome: %w", err)
		}
	}
	return urls.Err()
}

// entries are the directory's entries of users, all in one group.
func entries(n int) string {
	var users, members strings.Builder
	for i := range n {
		dn := fmt.Sprintf("uid=bench%d,ou=people,%s", i, ldaptest.BaseDN)
		fmt.Fprintf(&users, "dn: %s\nchangetype: add\nobjectClass: inetOrgPerson\ncn: B\nsn: B\nuserPassword: %s\n\n", dn, password)
		fmt.Fprintf(&members, "member: %s\n", dn)
	}
	return fmt.Sprintf("%sdn: cn=%s,ou=groups,%s\nchangetype: add\nobjectClass: groupOfNames\ncn: %[2]s\n%[4]s\n", &users, manyGroup, ldaptest.BaseDN, &members)
}

// logInAll logs everybody in at once, each on a connection of their own.
func logInAll(url string, n int) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, err := openSession(ctx, client, url, map[string]string{"user": fmt.Sprintf("bench%d", i), "password": password})
			if err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// people is a running process of them.
type people struct {
	directory string // URL
	caFile    string
	elsewhere string // URL of a server that lets everybody in

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func (s site) people(ctx context.Context) (*people, error) {
	dir, err := s.folder("people")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the program: %w", err)
	}
	p := &people{cmd: exec.CommandContext(ctx, "nice", "-n", "19", self, peopleCommand, dir)}
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting people: %w", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting people: %w", err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting people: %w", err)
	}
	if _, err := fmt.Sscan(p.hear(), &p.directory, &p.caFile, &p.elsewhere); err != nil {
		p.stop()
		return nil, fmt.Errorf("reading where the directory is: %w", err)
	}
	return p, nil
}

// logIn has everybody log in at the URL.
func (p *people) logIn(url string) error {
	if _, err := fmt.Fprintln(p.in, url); err != nil {
		return fmt.Errorf("having people log in: %w", err)
	}
	if outcome := p.hear(); outcome != "ok" {
		return fmt.Errorf("having people log in: %s", outcome)
	}
	return nil
}

// hear is the next line that they say; empty when they are gone.
func (p *people) hear() string {
	p.out.Scan()
	return p.out.Text()
}

func (p *people) stop() {
	p.in.Close()
	_ = p.cmd.Wait() // its figures are over
}
