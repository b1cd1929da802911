package command

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// judgeGit judges git by its verb.
func judgeGit(args call) verdict {
	v := verdict{class: ReadOnly}
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		switch flag := args[0].text; {
		case flag == "--version" || flag == "--help":
			return v
		case flag == "-C" || flag == "-c" || flag == "--git-dir" || flag == "--work-tree":
			if v = unknown("git runs what its options say"); len(args) > 1 {
				args = args[1:]
			}
		case flag != "--no-pager" && flag != "-p" && flag != "-P":
			v = unknown("git runs what its options say")
		}
		args = args[1:]
	}
	if args.dynamic() {
		v = unknown("an argument of git is only known at run time")
	}
	return worse(v, judgeGitVerb(args))
}

func judgeGitVerb(args call) verdict {
	rest := args.operands()
	second := ""
	if len(rest) > 1 {
		second = rest[1].text
	}
	discards := dangerous(Erase, "git "+args.first()+" discards changes")
	switch verb := args.first(); verb {
	case "", "status", "ls-files", "ls-tree", "rev-parse", "rev-list", "describe", "blame", "shortlog", "cat-file", "merge-base", "count-objects", "help", "version", "ls-remote", "var", "for-each-ref", "name-rev", "check-ignore", "whatchanged", "verify-commit", "show-ref":
		return verdict{class: ReadOnly}
	case "diff", "log", "show", "grep":
		if args.has("--output", "--ext-diff", "--open-files-in-pager", "O") {
			return unknown("git writes a file or runs a command")
		}
		return verdict{class: ReadOnly}
	case "branch", "tag", "remote", "stash", "worktree", "submodule", "notes", "bisect", "reflog":
		switch {
		case text.Lists("drop clear", second) && verb == "stash", verb == "branch" && args.has("D"), verb == "branch" && args.has("d", "--delete") && args.has("f", "--force"),
			verb == "reflog" && (second == "expire" || second == "delete"), verb == "worktree" && second == "remove" && args.has("f", "--force"), verb == "submodule" && second == "deinit":
			return discards
		case len(rest) == 1 && verb != "stash" && !args.has("d", "D", "m", "M", "c", "C", "--delete", "--move", "--copy"), second == "list" || second == "show" || second == "status" || second == "get-url":
			return verdict{class: ReadOnly}
		}
	case "clean":
		if args.has("n", "--dry-run") {
			return verdict{class: ReadOnly}
		}
		return dangerous(RecursiveDeletion, "git clean deletes files")
	case "rm":
		if args.has("r") && !args.has("n", "--dry-run", "--cached") {
			return dangerous(RecursiveDeletion, "git rm deletes recursively")
		}
	case "push":
		forced := slices.ContainsFunc(rest[1:], func(a arg) bool { return strings.HasPrefix(a.text, "+") || strings.HasPrefix(a.text, ":") })
		if (forced || args.has("f", "--force", "--force-with-lease", "--force-if-includes", "--delete", "d", "--mirror", "--prune")) && !args.has("n", "--dry-run") {
			return dangerous(Erase, "git push overwrites or deletes what others have")
		}
	case "reset":
		if args.has("--hard", "--merge", "--keep") {
			return discards
		}
	case "checkout", "switch":
		if args.has("f", "--force", "--discard-changes") || second == "." || slices.ContainsFunc(args, func(a arg) bool { return a.text == "--" }) && !args.has("b", "B") {
			return discards
		}
	case "restore":
		if !args.has("S", "--staged") || args.has("W", "--worktree") {
			return discards
		}
	case "filter-branch", "filter-repo", "update-ref", "prune", "replace":
		return dangerous(Erase, "git "+verb+" rewrites or deletes history")
	case "gc":
		if args.has("--prune", "--aggressive") {
			return discards
		}
	case "config":
		return judgeGitConfig(args, rest[1:])
	}
	return mutateFile("git changes the repository")
}

func judgeGitConfig(args, rest call) verdict {
	switch {
	case args.has("l", "--list", "--get", "--get-all", "--get-regexp") || len(rest) < 2 && !args.has("--unset", "--unset-all", "--remove-section", "e", "--edit"):
		return verdict{class: ReadOnly}
	case args.has("--global", "--system"):
		return dangerous(WriteOutsideRoot, "git config writes outside of the root")
	}
	return unknown("git config can make git run commands")
}

// judgeContainer judges docker and its kind by the verb; run and exec are wrappers.
func judgeContainer(args call) verdict {
	i := args.verb("docker")
	if i < 0 {
		return readsUnless(args)
	}
	if args.dynamic() {
		return worse(unknown("the container is only known at run time"), judgeContainerVerb(args[i:]))
	}
	return judgeContainerVerb(args[i:])
}

func judgeContainerVerb(args call) verdict {
	rest := args.operands()
	verb := args.first()
	if len(rest) > 1 && text.Lists("container image volume network system builder buildx compose stack service swarm node secret config context plugin manifest trust machine pod", verb) {
		group := verb
		switch verb = rest[1].text; {
		case text.Lists("ls list df inspect ps logs config images top port history info show version events diff stats", verb):
			return verdict{class: ReadOnly}
		case group == "compose" && verb == "down", verb == "leave":
			return dangerous(Erase, "it removes containers and networks")
		case group == "compose" && (verb == "run" || verb == "exec"):
			return unknown("it runs what a container holds")
		case group == "service" && verb == "scale", verb == "demote":
			return dangerous(CriticalProcess, "it ends containers")
		}
	}
	switch verb {
	case "ps", "logs", "images", "inspect", "version", "info", "stats", "top", "port", "history", "diff", "events", "search":
		return verdict{class: ReadOnly}
	case "rm", "rmi", "prune", "remove", "down":
		return dangerous(Erase, "it removes containers, images or volumes")
	case "stop", "kill", "restart", "pause":
		return dangerous(CriticalProcess, "it ends containers")
	case "run", "exec", "build", "compose", "create":
		return unknown("it runs what a container holds")
	}
	return mutate("it changes containers")
}

// judgeKubectl judges kubectl by its verb; exec is a wrapper.
func judgeKubectl(args call) verdict {
	i := args.verb("kubectl")
	if i < 0 {
		return readsUnless(args)
	}
	args = args[i:]
	if args.dynamic() {
		return worse(unknown("the object is only known at run time"), judgeKubectlVerb(args))
	}
	return judgeKubectlVerb(args)
}

func judgeKubectlVerb(args call) verdict {
	rest := args.operands()
	second := ""
	if len(rest) > 1 {
		second = rest[1].text
	}
	for _, a := range args {
		if strings.HasPrefix(a.text, "--dry-run") && a.text != "--dry-run=none" {
			return verdict{class: ReadOnly}
		}
	}
	switch verb := args.first(); verb {
	case "get", "describe", "logs", "top", "version", "explain", "api-resources", "api-versions", "cluster-info", "events", "diff", "options", "completion", "wait", "help":
		return verdict{class: ReadOnly}
	case "auth", "config":
		if text.Lists("can-i whoami view current-context get-contexts get-clusters get-users", second) {
			return verdict{class: ReadOnly}
		}
		if strings.HasPrefix(second, "delete") || second == "unset" {
			return dangerous(Erase, "kubectl deletes settings")
		}
		return unknown("kubectl changes its settings")
	case "delete", "replace":
		return dangerous(Erase, "kubectl deletes objects")
	case "apply":
		if args.has("--prune", "--force") {
			return dangerous(Erase, "kubectl deletes objects")
		}
	case "rollout":
		switch second {
		case "status", "history":
			return verdict{class: ReadOnly}
		case "restart":
			return dangerous(Reload, "kubectl restarts pods")
		}
		return dangerous(CriticalProcess, "kubectl ends or moves pods")
	case "drain", "scale", "cordon", "evict":
		return dangerous(CriticalProcess, "kubectl ends or moves pods")
	case "taint":
		if strings.Contains(args.last(), "NoExecute") {
			return dangerous(CriticalProcess, "kubectl ends or moves pods")
		}
	case "exec", "run", "cp", "attach", "debug", "proxy", "port-forward", "plugin":
		return unknown("kubectl runs or opens something")
	}
	return mutate("kubectl changes objects")
}

// judgeTerraform judges terraform and its kind.
func judgeTerraform(args call) verdict {
	rest := args.operands()
	switch verb := args.first(); {
	case text.Lists("plan show validate version output fmt graph providers get console", verb):
		return readsUnless(args)
	case verb == "destroy", verb == "apply" && args.has("-destroy", "--destroy"):
		return dangerous(Erase, "it destroys what it manages")
	case (verb == "state" || verb == "workspace") && len(rest) > 1:
		if text.Lists("list show pull select", rest[1].text) {
			return readsUnless(args)
		}
		if text.Lists("rm delete replace-provider push", rest[1].text) {
			return dangerous(Erase, "it deletes the state of what it manages")
		}
	}
	return unknown("it changes what it manages")
}

// judgePower judges what switches machines on and off over their controllers.
func judgePower(args call) verdict {
	if slices.ContainsFunc(args, func(a arg) bool {
		return text.Lists("off cycle reset soft powerdown graceshutdown hardreset powercycle racreset", strings.ToLower(a.text))
	}) {
		return dangerous(Shutdown, "it switches a machine off or resets it")
	}
	return unknown("it talks to a machine's controller")
}
