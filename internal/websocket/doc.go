// Package websocket rewrites the text messages of one direction of a WebSocket (RFC 6455), for stages
// that stand between a client and a server.
//
//	messages := websocket.Rewriter{Text: redact, Max: 1 << 20}
//	out, err := messages.Append(out[:0], piece)   // what can be passed on
//
// # Guarantees
//
// A text message is handed over whole, however it is cut into frames and pieces, and leaves in one
// frame, masked if it came masked. Control frames pass at once, also between the frames of a message,
// and binary messages pass as they come. At most Max bytes and one frame's head are kept. What cannot
// be understood (an extension, a frame against the rules) and a message of more than Max bytes is an
// error, behind which nothing passes any more; its Close frame tells the receiver.
//
// # Concurrency
//
// A Rewriter belongs to one direction of one connection, and to one goroutine at a time. The package
// keeps no state of its own.
package websocket
