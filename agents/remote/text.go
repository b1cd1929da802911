package remote

import (
	"fmt"
	"strings"
	"time"
)

// tell is a task as the model is told. The first line has a form of its own.
func tell(task Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "task %s of %s: %s\n", task.ID, task.name(), task.Status)
	switch task.Status {
	case Starting:
		b.WriteString("It is not known yet whether the remote has begun.\n")
	case Running:
		fmt.Fprintf(&b, "It is at work (%d steps so far). check_remote tells when it is done, and so does the system prompt of a later turn.\n", task.Steps)
	case Waiting:
		tellAsks(&b, task.Asks)
	case Success:
		b.WriteString("The remote answers:\n" + task.Answer + "\n")
	case Cancelled:
		b.WriteString("It does nothing any more.\n")
	default:
		b.WriteString("It ended without an answer: " + task.Failure + "\n")
	}
	if task.Answer != "" && task.Status != Success {
		b.WriteString("It said last:\n" + task.Answer + "\n")
	}
	return b.String()
}

// tellAsks tells what a remote waits for.
func tellAsks(b *strings.Builder, a *Asks) {
	if a.Unfit != "" {
		fmt.Fprintf(b, "It asks for something that cannot be shown to people: %s. cancel_remote ends the task.\n", a.Unfit)
		return
	}
	b.WriteString("It waits. answer_remote has a person decide on:\n")
	for _, k := range a.List {
		if k.Action == "" {
			fmt.Fprintf(b, "- the question %s\n", k.Question)
			continue
		}
		fmt.Fprintf(b, "- %s %s", k.Action, k.Args)
		if k.Description != "" {
			fmt.Fprintf(b, " (%s)", k.Description)
		}
		b.WriteString("\n")
	}
}

// tellAll are the remotes and the tasks, one a line.
func tellAll(remotes []*Remote, tasks []Task) string {
	var b strings.Builder
	b.WriteString("Remote agents:\n")
	for _, r := range remotes {
		state := "cannot be reached at present"
		if r.ready.Load() {
			state = "is there"
		}
		fmt.Fprintf(&b, "- %s, %s: %s\n", Name(r.Name), state, r.Description)
	}
	if len(tasks) == 0 {
		b.WriteString("There are no tasks.\n")
		return b.String()
	}
	b.WriteString("Tasks, newest first:\n")
	for _, task := range tasks {
		fmt.Fprintf(&b, "- %s, %s, since %s: %s\n", task.ID, task.Status, task.Created.UTC().Format(time.DateTime), cut(strings.Join(strings.Fields(task.Text), " "), 200))
	}
	return b.String()
}
