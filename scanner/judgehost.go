package scanner

import "strings"

func judgeShutdown(args call) verdict {
	if args.has("r", "--reboot") {
		return verdict{Dangerous, Reload, "shutdown restarts the host"}
	}
	return verdict{Dangerous, Shutdown, "shutdown takes the host down"}
}

func judgeSystemctl(args call) verdict {
	if args.dynamic() {
		return unknown("the unit is only known at run time")
	}
	switch verb := args.first(); verb {
	case "", "status", "show", "cat", "help", "is-active", "is-enabled", "is-failed", "is-system-running", "get-default",
		"list-units", "list-unit-files", "list-sockets", "list-timers", "list-jobs", "list-dependencies", "list-machines", "show-environment":
		return verdict{class: ReadOnly}
	case "reboot", "soft-reboot", "kexec":
		return verdict{Dangerous, Reload, "systemctl restarts the host"}
	case "poweroff", "halt", "suspend", "hibernate", "rescue", "emergency", "isolate", "exit", "hybrid-sleep":
		return verdict{Dangerous, Shutdown, "systemctl takes the host down"}
	case "stop", "kill", "disable", "mask":
		return verdict{Dangerous, CriticalProcess, "systemctl ends or disables services"}
	case "restart", "try-restart", "reload", "reload-or-restart", "daemon-reload", "daemon-reexec":
		return verdict{Dangerous, Reload, "systemctl restarts or reloads services"}
	}
	return verdict{Mutate, "", "systemctl changes services"}
}

func judgeService(args call) verdict {
	rest := args.operands()
	if args.dynamic() {
		return unknown("the service is only known at run time")
	}
	if args.has("--status-all") || len(rest) > 1 && rest[1].text == "status" {
		return verdict{class: ReadOnly}
	}
	if len(rest) > 1 {
		switch rest[1].text {
		case "start":
			return verdict{Mutate, "", "service starts a service"}
		case "restart", "reload", "force-reload":
			return verdict{Dangerous, Reload, "service restarts or reloads a service"}
		}
	}
	return verdict{Dangerous, CriticalProcess, "service ends a service"}
}

func judgeKill(args call) verdict {
	if len(args) > 0 && (args[0].text == "-l" || args[0].text == "-L" || args[0].text == "-0") && !args.dynamic() {
		return verdict{class: ReadOnly}
	}
	return verdict{Dangerous, CriticalProcess, "kill ends processes"}
}

func judgeFuser(args call) verdict {
	if args.has("k", "--kill") {
		return verdict{Dangerous, CriticalProcess, "fuser ends processes"}
	}
	return verdict{class: ReadOnly}
}

func judgeCrontab(args call) verdict {
	switch {
	case args.has("r"):
		return verdict{Dangerous, Erase, "crontab removes all jobs"}
	case args.has("l") && len(args.operands()) == 0:
		return verdict{class: ReadOnly}
	}
	return unknown("crontab installs commands")
}

func judgeGit(args call) verdict {
	if args.dynamic() || len(args) > 0 && strings.HasPrefix(args[0].text, "-") && args[0].text != "--no-pager" && args[0].text != "--version" {
		return unknown("git runs what its options say")
	}
	if len(args) > 0 && args[0].text == "--no-pager" {
		args = args[1:]
	}
	rest := args.operands()
	switch verb := args.first(); verb {
	case "", "status", "ls-files", "ls-tree", "rev-parse", "rev-list", "describe", "blame", "shortlog", "cat-file", "merge-base", "count-objects":
		return verdict{class: ReadOnly}
	case "diff", "log", "show", "grep":
		if args.has("--output", "--ext-diff", "--open-files-in-pager", "O") {
			return unknown("git writes a file or runs a command")
		}
		return verdict{class: ReadOnly}
	case "branch", "tag", "remote", "stash":
		if len(rest) == 1 && !args.has("d", "D", "m", "M", "--delete", "--move") || len(rest) > 1 && (rest[1].text == "list" || rest[1].text == "show") {
			return verdict{class: ReadOnly}
		}
		if len(rest) > 1 && (rest[1].text == "drop" || rest[1].text == "clear") {
			return verdict{Dangerous, Erase, "git stash discards changes"}
		}
	case "clean":
		if !args.has("n", "--dry-run") {
			return verdict{Dangerous, RecursiveDeletion, "git clean deletes files"}
		}
	case "push":
		if args.has("f", "--force", "--force-with-lease", "--delete", "d", "--mirror", "--prune") {
			return verdict{Dangerous, Erase, "git push overwrites or deletes what others have"}
		}
	case "reset":
		if args.has("--hard", "--merge", "--keep") {
			return verdict{Dangerous, Erase, "git reset discards changes"}
		}
	case "config":
		return unknown("git config can make git run commands")
	}
	return verdict{Mutate, "", "git changes the repository"}
}

func judgeContainer(args call) verdict {
	if args.dynamic() {
		return unknown("the container is only known at run time")
	}
	rest := args.operands()
	verb := args.first()
	if len(rest) > 1 && words("container image volume network system").has([]byte(verb)) {
		if verb = rest[1].text; verb == "ls" || verb == "df" {
			return verdict{class: ReadOnly}
		}
	}
	switch verb {
	case "ps", "logs", "images", "inspect", "version", "info", "stats", "top", "port", "history", "diff", "events", "search":
		return verdict{class: ReadOnly}
	case "rm", "rmi", "prune":
		return verdict{Dangerous, Erase, "it removes containers, images or volumes"}
	case "stop", "kill", "restart", "pause":
		return verdict{Dangerous, CriticalProcess, "it ends containers"}
	case "run", "exec", "build", "compose", "create":
		return unknown("it runs what a container holds")
	}
	return verdict{Mutate, "", "it changes containers"}
}

func judgeKubectl(args call) verdict {
	if args.dynamic() {
		return unknown("the object is only known at run time")
	}
	switch verb := args.first(); verb {
	case "get", "describe", "logs", "top", "version", "explain", "api-resources", "api-versions", "cluster-info", "events":
		return verdict{class: ReadOnly}
	case "delete", "replace":
		return verdict{Dangerous, Erase, "kubectl deletes objects"}
	case "drain", "scale", "rollout", "cordon":
		return verdict{Dangerous, CriticalProcess, "kubectl ends or moves pods"}
	case "exec", "run", "cp", "attach", "debug", "config", "proxy", "port-forward":
		return unknown("kubectl runs or opens something")
	}
	return verdict{Mutate, "", "kubectl changes objects"}
}
