// Package stream is the Caddy handler svc_stream: discipline for streams, from whatever handler stands
// behind it. Streams are server-sent events, lines and sequences of JSON documents, and gRPC.
//
//	example.com {
//		svc_auth
//		svc_stream {
//			keepalive 8s
//		}
//		reverse_proxy localhost:8000
//	}
//
// What it guarantees for a stream:
//
//   - Every write is flushed at once.
//   - While nothing comes from the handler a keepalive is written, between events only.
//   - A client that does not read is cut after write_timeout, and the handler's context ends.
//   - The stream ends within one keepalive, or breaks off if it is none of events, when the credential of its principal expires, is
//     revoked or gives a weaker role, and at once when the process goes down. The handler's
//     context is cancelled with policy.ErrExpired, policy.ErrRevoked or policy.ErrStopping as its
//     cause; what it writes within the grace period still arrives.
//   - A config reload touches no open stream.
//   - Once the header is out no error reaches Caddy, whose error routes would write into the
//     stream.
//
// All other responses pass untouched. Handlers must use http.NewResponseController: the writer
// they get serialises their writes with the keepalives, and may be used from one goroutine or
// several until ServeHTTP returns. A waiting stream costs one timer, no goroutine and no buffer.
package stream
