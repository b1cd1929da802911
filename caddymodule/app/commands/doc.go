// Package commands is the subcommands that every program with our stages has: admin of package
// [github.com/svc-gateway/svc/caddymodule/app/admin], audit, backup, config, login, logout, whoami and scan.
//
// Importing it registers them. Each stage that uses the app svc does, so that any Caddy build with one of
// them can manage what the stage keeps:
//
//	import _ "github.com/svc-gateway/svc/caddymodule/app/commands"
//
// A program that has a configuration of its own names it with [UseBuiltIn], and what brings a file into
// the data folder has it checked with [AlsoCheck]. Other commands use [WithReader], [FindTarget] and
// [Adapt].
//
// The commands work whether a service runs on the data folder or not, except that login and its like
// need one to ask. What a command changes it has the running service change, over the control socket. A
// command runs once a process; nothing here is used by several goroutines.
package commands

import _ "github.com/svc-gateway/svc/caddymodule/app/admin" // the command admin
