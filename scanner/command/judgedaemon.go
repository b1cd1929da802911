package command

// judgeDaemon judges a program that controls a service with a word: nginx -s reload, apachectl graceful.
// What other words do is not known.
func judgeDaemon(args call) verdict {
	for _, a := range args.operands() {
		switch a.text {
		case "restart", "graceful", "reload", "force-reload", "reopen", "reconfigure", "reconfig", "refresh":
			return dangerous(Reload, "it restarts or reloads a service")
		case "stop", "fast-stop", "graceful-stop", "quit", "halt", "shutdown", "abort", "kill":
			return dangerous(CriticalProcess, "it ends a service")
		}
	}
	return unknown("what it does to the service is not known")
}
