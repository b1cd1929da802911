// Package fetch asks listed servers for an agent, which may have been told by somebody else what to ask.
//
//	c := fetch.New(fetch.Config{Hosts: hosts, Networks: networks})
//	answer, err := c.Get(ctx, "https://example.org/status")
//	answer, err = c.Do(ctx, fetch.Request{Method: "DELETE", URL: "https://example.org/items/7"})
//
// # Guarantees
//
// Only servers of the list are asked, over https unless the list says http, at the ports of the list, also
// when an answer leads elsewhere: each redirect, of which five are followed, is checked as the first URL
// was. An address is looked at when the connection to it is made, after the name was looked up; see
// package reach for what is allowed. No proxy is used, whatever the environment says: it would make the
// connection, and look at nothing. [Client.Get] sends no cookie and no credential.
//
// [Client.Do] adds the credentials of the server to a request, and to no request of a chain that has left that
// server. No header of a request takes their place, changes the method, or says who asks. A request that writes is
// sent once and follows no redirect; when no answer came, the error is [ErrUnknown].
//
// What a server sends is read within limits of time and size, which hold before and after it is unpacked.
// Text is decoded to UTF-8, and its secrets are redacted before it is cut. Of anything else there is only
// what it is and how long. No text of a server or of the network stands in an error.
//
// # Concurrency
//
// A Client is safe for concurrent use. It keeps no connection and nothing else between requests.
package fetch
