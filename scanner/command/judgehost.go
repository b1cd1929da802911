package command

import "strings"

func judgeShutdown(args call) verdict {
	if args.has("r", "--reboot") {
		return dangerous(Reload, "shutdown restarts the host")
	}
	return dangerous(Shutdown, "shutdown takes the host down")
}

func judgeSystemctl(args call) verdict {
	v := verdict{class: ReadOnly}
	if args.dynamic() {
		v = unknown("the unit is only known at run time")
	}
	switch verb := args.first(); verb {
	case "", "status", "show", "cat", "help", "is-active", "is-enabled", "is-failed", "is-system-running", "get-default",
		"list-units", "list-unit-files", "list-sockets", "list-timers", "list-jobs", "list-dependencies", "list-machines", "show-environment":
		return v
	case "reboot", "soft-reboot", "kexec":
		return dangerous(Reload, "systemctl restarts the host")
	case "poweroff", "halt", "suspend", "hibernate", "rescue", "emergency", "isolate", "exit", "hybrid-sleep":
		return dangerous(Shutdown, "systemctl takes the host down")
	case "stop", "kill", "disable", "mask":
		return dangerous(CriticalProcess, "systemctl ends or disables services")
	case "restart", "try-restart", "reload", "reload-or-restart", "daemon-reload", "daemon-reexec":
		return dangerous(Reload, "systemctl restarts or reloads services")
	}
	return worse(mutate("systemctl changes services"), v)
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
			return mutate("service starts a service")
		case "restart", "reload", "force-reload":
			return dangerous(Reload, "service restarts or reloads a service")
		}
	}
	return dangerous(CriticalProcess, "service ends a service")
}

func judgeKill(args call) verdict {
	if len(args) > 0 && (args[0].text == "-l" || args[0].text == "-L" || args[0].text == "-0") && !args.dynamic() {
		return verdict{class: ReadOnly}
	}
	return dangerous(CriticalProcess, "kill ends processes")
}

func judgeFuser(args call) verdict {
	if args.has("k", "--kill") {
		return dangerous(CriticalProcess, "fuser ends processes")
	}
	return verdict{class: ReadOnly}
}

func judgeCrontab(args call) verdict {
	switch {
	case args.has("r"):
		return dangerous(Erase, "crontab removes all jobs")
	case args.has("l") && len(args.operands()) == 0:
		return verdict{class: ReadOnly}
	}
	return unknown("crontab installs commands")
}

func judgeIfconfig(args call) verdict {
	rest := args.operands()
	switch {
	case args.last() == "down":
		return dangerous(Shutdown, "ifconfig takes an interface down")
	case len(rest) > 1:
		return mutate("ifconfig changes the network")
	}
	return readsUnless(args)
}

// judgeNetcat judges nc and its kind, which can give a program to whoever connects.
func judgeNetcat(args call) verdict {
	if args.has("e", "c", "--exec", "--sh-exec", "--lua-exec") {
		return dangerous(RemoteCode, "it lets another host run commands")
	}
	for _, a := range args {
		if upper := strings.ToUpper(a.text); strings.HasPrefix(upper, "EXEC:") || strings.HasPrefix(upper, "SYSTEM:") {
			return dangerous(RemoteCode, "it lets another host run commands")
		}
	}
	return unknown("it talks to another host")
}
