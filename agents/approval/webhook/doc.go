// Package webhook tells a server of approvals: of calls that wait for people, and of what was decided.
//
// A [Webhook] is an [approval.Notifier]. Make it with [New], and [Webhook.Close] it when nobody uses it
// any more.
//
// # Guarantees
//
// Messages are sent as package post sends them. Link-local addresses, which lead to the metadata of
// clouds, are never used, loopback and private ones only if that is allowed. What is sent holds no
// credential.
//
// # Concurrency
//
// A Webhook is safe for concurrent use. Messages keep their order.
package webhook
