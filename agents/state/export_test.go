package state

// RunsQuery is the query behind [Store.Runs].
var (
	RunsQuery      = runsQuery
	ApprovalsQuery = approvalsQuery
)
