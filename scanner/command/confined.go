package command

import (
	"path"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// A line of the class Mutate is confined if each of its commands is one of those below, which work on the
// files that they are told and on nothing else of the host, and if each word that may be a file is known
// and stays in the folder. Whatever is not proved to be so is not confined: a program that is missing
// here, an option that leads elsewhere, a change that is none of a file.

// workers are the programs, with those of their options that lead elsewhere or run something.
var workers = func() map[string]string {
	table := map[string]string{
		"cp": "", "install": "o g s --owner --group --strip --strip-program", "ln": "", "mv": "", "mkdir": "Z --context", "rmdir": "", "touch": "", "tee": "",
		"truncate": "", "unlink": "", "patch": "", "split": "--filter", "chmod": "", "rm": "", "gzip": "", "gunzip": "", "bzip2": "", "xz": "",
		"zip": "T", "unzip": "", "tar": "", "sed": "", "find": "", "dd": "", "git": "x --exec", "uniq": "", "sort": "T --temporary-directory",
		"sh": "", "bash": "", "dash": "",
	}
	for _, name := range strings.Fields(`[ : b2sum base32 base64 basename bc cal cat cd cksum cmp column comm cut date df diff dirname du
		echo egrep exit expand expr false fgrep file fmt fold grep head hexdump jq ls md5sum nl numfmt od paste pr printf pwd readlink
		realpath rev rg seq sha1sum sha224sum sha256sum sha384sum sha512sum size sleep stat strings sum tac tail test tr tree true
		unexpand wait wc xxd yq zcat zgrep`) {
		table[name] = ""
	}
	return table
}()

// carriers are the wrappers that do nothing but run the command that follows.
var carriers = text.Words("env nice ionice timeout nohup setsid stdbuf time command builtin exec noglob")

// localVerbs are the verbs of git that work on the repository alone. Its hooks run where it does.
var localVerbs = text.Words(`status ls-files ls-tree rev-parse rev-list describe blame shortlog cat-file merge-base count-objects version
	for-each-ref name-rev check-ignore whatchanged show-ref diff log show grep branch tag stash notes reflog add mv rm commit init
	reset checkout switch restore merge rebase cherry-pick revert apply format-patch`)

// Which operands of a command are no files, whatever they look like.
var (
	allText   = text.Words("echo printf expr seq sleep tr basename dirname")
	firstText = text.Words("grep egrep fgrep zgrep rg sed jq yq")
)

// devices are those that are everywhere, and hold nothing of the host.
var devices = text.Words("/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/stdin /dev/stdout /dev/stderr")

// confine notes that a command is not proved to be confined, unless it is.
func (w *shell) confine(name string, args call) {
	if !confined(name, args) {
		w.beyond = true
	}
}

func confined(name string, args call) bool {
	leads, ok := workers[name]
	switch {
	case !ok, name == "git" && !localVerbs.HasString(args.first()), name == "sed" && !prints(args):
		return false
	case text.Lists("sh bash dash", name) && (len(args) < 2 || args[0].text != "-c"): // its line is looked at by itself
		return false
	case allText.HasString(name):
		return true
	}
	for _, f := range strings.Fields(leads) {
		if args.has(f) {
			return false
		}
	}
	skip := firstText.HasString(name) && !args.has("e", "f", "--regexp", "--expression", "--file", "--from-file")
	for _, a := range args {
		if skip && !strings.HasPrefix(a.text, "-") {
			skip = false
			continue
		}
		if !stays(a) || name == "tar" && strings.Contains(a.text, ":") {
			return false
		}
	}
	return true
}

// prints reports whether the scripts of sed run nothing, and read and write no file of their own.
func prints(args call) bool {
	given := false
	for i, a := range args {
		switch {
		case a.text == "-e":
			if given = true; i+1 == len(args) || !sedScript.MatchString(args[i+1].text) {
				return false
			}
		case strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "-i") && !text.Lists("-n -E -r -s -z --in-place", a.text):
			return false
		}
	}
	return given || sedScript.MatchString(args.first())
}

// stays reports whether a word, if it is a file or an option with one, is in the folder.
func stays(a arg) bool {
	word := a.text
	if a.dynamic || strings.Contains(word, "://") {
		return false
	}
	if strings.HasPrefix(word, "-") {
		if i := strings.IndexAny(word, "=/~"); i >= 0 {
			return in(strings.TrimPrefix(word[i:], "="))
		}
		return true
	}
	_, value, _ := strings.Cut(word, "=") // if=file
	return in(word) && in(value)
}

// in reports whether a path is in the folder, or one that every sandbox has.
func in(p string) bool {
	return p == "" || devices.HasString(path.Clean(p)) || !outside(p)
}
