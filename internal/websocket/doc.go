// Package websocket rewrites the messages of one direction of a WebSocket (RFC 6455), for stages that
// stand between a client and a server.
//
//	messages := websocket.Rewriter{Take: redact, Max: 1 << 20}
//	out, err := messages.Append(out[:0], piece)   // what can be passed on
//
// [Asks], [Opens] and [Narrow] look after the request that opens one and its answer: a stage can read
// only what is a WebSocket without extensions.
//
// # Guarantees
//
// A text message is handed over whole, however it is cut into frames and pieces, and leaves in one
// frame, masked if it came masked. Where the Rewriter takes all, the same holds for binary messages, and
// control frames are handed over too. A control frame passes at once, also between the frames of a
// message. At most Max bytes, a control frame and one frame's head are kept: a longer message is handed
// over in pieces, or is an error. So is what cannot be understood (an extension, a frame against the
// rules). Behind an error nothing passes any more, and its Close frame tells the receiver.
//
// # Concurrency
//
// A Rewriter belongs to one direction of one connection, and to one goroutine at a time. The package
// keeps no state of its own.
package websocket
