// Package caddytest runs Caddy with our stages inside a test.
//
//	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nreverse_proxy " + upstream})
//	resp := srv.Get("/", "Authorization", "Bearer "+srv.Token)
//
// [Start] serves from a port and a data folder of its own and stops with the test. Caddy is one
// instance a process, so tests that use it must not run in parallel. [Golden] checks a
// directive's golden files.
package caddytest
