// Package app is the Caddy app svc: what all our stages share.
//
// It resolves the settings and opens, once per data folder and process, the audit log, the
// identity service, the policy engine, the live bus and the control socket. A stage gets
// them while it is provisioned:
//
//	a, err := app.Get(ctx)
//	a.Identity().Verify(…)
//
// In a Caddyfile the app is the global option svc, with one block for each section of the
// settings; without it the stages use the app with its defaults:
//
//	{
//		svc {
//			auth {
//				mode token
//			}
//			model {
//				provider openai
//				base_url http://127.0.0.1:11434/v1
//				name qwen3
//			}
//		}
//	}
//
// A stage that imports it imports package commands as well, so that any Caddy build with one of our
// stages can manage the users and read the audit log.
//
// # Guarantees
//
// The shared resources survive a configuration reload: the new app takes them over from the
// old one, and requests of the old configuration go on using them. They are closed when no
// app and no holder (see [App.Hold]) is left, or when the process exits. Only one process
// serves from a data folder at a time. The control socket answers the service's own user and
// root only, as the operating system identifies them, whatever the file's mode is. What is asked
// there is accounted for, refused requests included, and refused while the audit log cannot be
// written; reads of /status and /health are neither.
//
// # Concurrency
//
// All methods of App are safe for concurrent use once the app is provisioned.
package app
