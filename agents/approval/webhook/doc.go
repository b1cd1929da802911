// Package webhook tells a server of approvals: of calls that wait for people, and of what was decided.
//
// A [Webhook] is an [approval.Notifier]. Make it with [New], and [Webhook.Close] it when nobody uses it
// any more. Each message is a POST of JSON with the signature of Standard Webhooks
// (https://www.standardwebhooks.com):
//
//	webhook-id: msg_…                  the same in each attempt
//	webhook-timestamp: 1767225600
//	webhook-signature: v1,<base64 of HMAC-SHA256 of "id.timestamp.body">
//
// # Guarantees
//
// The service never waits for the server: messages are queued, and dropped with a warning when the queue
// is full. A message is sent a few times until an answer of 2xx comes. Redirects are not followed and no
// proxy is used. An address is looked at after it was resolved, when the connection is made: link-local
// addresses, which lead to the metadata of clouds, are never used, loopback and private ones only if that
// is allowed. What is sent holds no credential.
//
// # Concurrency
//
// A Webhook is safe for concurrent use. One goroutine sends; messages keep their order.
package webhook
