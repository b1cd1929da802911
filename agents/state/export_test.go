package state

import "github.com/svc-gateway/svc/agents"

// The queries behind methods of [Store].
var (
	RunsQuery      = runsQuery
	ApprovalsQuery = approvalsQuery
	ItemsQuery     = itemsQuery
)

// ThreadsQuery is the query behind [Store.Threads] without its page.
func ThreadsQuery(f agents.ThreadFilter) (query string, args []any, err error) {
	where, args, err := threadsWhere(f)
	if err != nil {
		return "", nil, err
	}
	order, err := threadsOrder(f)
	return selectThreads + where + order, args, err
}

// Queries that the service asks again and again, by what they are for.
var Queries = map[string]string{
	"queue": queue, "next due": nextDue, "request": requestedRun, "other runs": otherRuns, "queued": countQueued,
	"hold thread": holdThread, "expired threads": expiredThreads, "writes": selectWrites, "past": rowsPast,
	"item": selectItems + namedItem, "item owners": itemOwners, "item totals": itemTotals, "sweep items": sweepItems, "renew item": renewItem,
	"assistants of": countAssistants, "assistant": selectAssistants + ` WHERE id = ?`, "versions": selectVersions,
	"crons due": dueCrons, "crons of": countCrons,
}
