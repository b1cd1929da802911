package policy

// Endpoint is an operation of an HTTP API and what it asks of who calls it.
type Endpoint struct {
	Method  string
	Path    string // segments in braces stand for any
	Action  Action // what the caller's role must permit; empty: a principal suffices
	Open    bool   // not even a principal is needed
	Summary string // for people
}

// Permits reports whether one with the role may call the endpoint; the empty role is nobody.
func (e Endpoint) Permits(r Role) bool {
	return e.Open || r.rank() > 0 && (e.Action == "" || r.May(e.Action))
}
