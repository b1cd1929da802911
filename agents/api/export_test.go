package api

// Endpoint is one operation that the API serves.
type Endpoint struct{ Method, Path string }

// Endpoints lists all that the API serves.
func Endpoints() []Endpoint {
	var list []Endpoint
	for _, rte := range append(routes[:len(routes):len(routes)], documents...) {
		list = append(list, Endpoint{rte.method, rte.path})
	}
	return list
}
