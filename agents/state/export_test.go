package state

// The queries behind methods of [Store].
var (
	RunsQuery      = runsQuery
	ApprovalsQuery = approvalsQuery
	ItemsQuery     = itemsQuery
)

// Queries that the service asks again and again, by what they are for.
var Queries = map[string]string{
	"queue": queue, "next due": nextDue, "request": requestedRun, "other runs": otherRuns, "queued": countQueued,
	"hold thread": holdThread, "expired threads": expiredThreads, "writes": selectWrites, "past": rowsPast,
	"item": selectItems + namedItem, "item owners": itemOwners, "item totals": itemTotals, "sweep items": sweepItems, "renew item": renewItem,
	"assistants of": countAssistants, "assistant": selectAssistants + ` WHERE id = ?`, "versions": selectVersions,
	"crons due": dueCrons, "crons of": countCrons,
}
