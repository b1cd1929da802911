// Package cron starts runs again and again, at the times of a schedule.
//
// A [Table] keeps the crons of all users and starts a run for each one that is due:
//
//	table := cron.Open(cron.Config{Store: store, Identity: users, …})
//	release := table.Serve(starter) // what a run is made of is the starter's
//	c, err := table.Create(ctx, principal, cron.Cron{Assistant: id, Schedule: "0 9 * * 1-5", Timezone: "Europe/Berlin", …})
//
// # Guarantees
//
// A time of a schedule gives at most one run, however many processes share the store: whoever moves the
// cron on to its next time, by compare-and-swap, starts the run. The next time is after the one that was due,
// whatever the clock of the process says. A process that dies right there loses that run.
//
// Times that pass while no process is there are made up for by one run when there is one again, however many
// they are, unless the cron's end has passed.
//
// Before each run the principal who made the cron is resolved anew. When the credential does not count any
// more, the user was removed, or the role has become weaker, there is no run: the cron is switched off,
// and that is on record.
//
// # Concurrency
//
// A Table is safe for concurrent use, and so are several, in several processes, on one store.
package cron
