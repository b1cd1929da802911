//go:build linux

package testscript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// adduser adds a user as an operator does and keeps the token in a variable.
func adduser(c *call) error {
	if len(c.args) < 2 {
		return errors.New("usage: adduser VAR NAME [FLAG…]")
	}
	out, err := c.program("service", append([]string{"admin", "add-user", "--json"}, c.args[1:]...)...)
	c.out.WriteString(out)
	if err != nil {
		return err
	}
	var added struct{ Token string }
	if err := json.Unmarshal([]byte(out), &added); err != nil || added.Token == "" {
		return fmt.Errorf("no token in %q", out)
	}
	c.ts.Setenv(c.args[0], added.Token)
	return nil
}

// program runs a program as exec does and returns its output.
func (c *call) program(name string, args ...string) (string, error) {
	err := c.ts.Exec(name, args...)
	c.err.WriteString(c.ts.ReadFile("stderr"))
	return c.ts.ReadFile("stdout"), err
}

// as says whose token requests send.
func as(c *call) error {
	if len(c.args) != 1 {
		return errors.New("usage: as VAR|nobody")
	}
	token := ""
	if c.args[0] != "nobody" {
		if token = c.ts.Getenv(c.args[0]); token == "" {
			return fmt.Errorf("$%s is empty", c.args[0])
		}
	}
	c.token = &token
	return nil
}

// credential is the token that requests send: that of as, else that of the token file.
func (c *call) credential() string {
	if c.token != nil {
		return *c.token
	}
	text, err := os.ReadFile(filepath.Join(c.home, ".svc", "token"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// capture takes a value out of the last output.
func capture(c *call) error {
	if len(c.args) != 2 {
		return errors.New("usage: capture VAR REGEXP")
	}
	re, err := regexp.Compile("(?m)" + c.args[1])
	if err != nil {
		return err
	}
	out := c.ts.ReadFile("stdout")
	m := re.FindStringSubmatch(out)
	if len(m) < 2 {
		return fmt.Errorf("nothing in stdout is like %s:\n%s", re, out)
	}
	c.ts.Setenv(c.args[0], m[1])
	c.out.WriteString(out) // so that the next line can look at it, too
	return nil
}

// until repeats a command or a program until its output is as wanted. How it ends does not count.
func until(c *call) error {
	if len(c.args) < 2 {
		return errors.New("usage: until REGEXP COMMAND ARG…")
	}
	re, err := regexp.Compile("(?m)" + c.args[0])
	if err != nil {
		return err
	}
	name, args := c.args[1], c.args[2:]
	var last *call
	err = poll(func() (bool, error) {
		last = &call{session: c.session, ts: c.ts, args: args}
		var err error
		if cmd, ok := commands[name]; ok {
			err = cmd(last)
		} else {
			err = last.quietly(name, args)
		}
		return re.Match(last.out.Bytes()), err
	})
	c.out, c.err = last.out, last.err
	return err
}

// quietly runs a program whose output does not go into the log, because it may run many times.
func (c *call) quietly(name string, args []string) error {
	const out = ".until"
	err := c.ts.Exec("sh", append([]string{"-c", `"$@" >` + out + ` 2>&1`, "until", name}, args...)...)
	text, readErr := os.ReadFile(c.ts.MkAbs(out))
	c.out.Write(text)
	return errors.Join(err, readErr)
}

func mode(c *call) error {
	if len(c.args) < 2 {
		return errors.New("usage: mode PERM FILE…")
	}
	want, err := strconv.ParseUint(c.args[0], 8, 12)
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range c.args[1:] {
		info, err := os.Stat(c.ts.MkAbs(file))
		if err == nil && info.Mode().Perm() != fs.FileMode(want) {
			err = fmt.Errorf("%s has mode %04o, want %04o", file, info.Mode().Perm(), want)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// repeat makes a file that is too large for a script.
func repeat(c *call) error {
	if len(c.args) != 5 {
		return errors.New("usage: repeat FILE A N UNIT B")
	}
	n, err := strconv.Atoi(c.args[2])
	if err != nil {
		return err
	}
	return os.WriteFile(c.ts.MkAbs(c.args[0]), []byte(c.args[1]+strings.Repeat(c.args[3], n)+c.args[4]), 0o600)
}
