// Package ldap asks an LDAP directory who somebody is, whether a password is theirs, and which
// role their groups give them.
//
//	d, err := ldap.New(settings.LDAP, password, trouble)
//	external, err := d.Authenticate(ctx, "alice", "her password")
//	external, err = d.Lookup(ctx, external.Subject) // as of now
//	report := d.Explain(ctx, "alice", "")           // each step, for an admin
//
// A [Directory] is an [identity.Directory]. A user is found by a search, or by a DN made from a
// template, and proves the password with a bind. Groups are read from the entry or searched for.
// The strongest role of all groups counts, and who is in none of the listed groups has no role.
//
// # Guarantees
//
// What a user types is escaped in filters (RFC 4515) and names (RFC 4514); names that a
// directory would take for another spelling of themselves are refused, and so are empty
// passwords, which would be no proof (RFC 4513, 5.1.2). Connections are encrypted and the
// server's certificate checked, unless the settings say otherwise. Referrals are not followed:
// credentials go to the configured servers only. A user whom nobody knows takes the same steps
// as a wrong password. Every look ends with its deadline, whatever the server does. An error that
// is none of package identity's is technical and says nothing about the user.
//
// Servers are asked in turn; one that failed comes last for a while. Nothing has to be restarted
// when one is back. What the directory said holds for the settings' CacheTTL, passwords that
// were right included.
//
// # Concurrency
//
// A Directory is safe for concurrent use; its connections are bounded by the settings' Pool.
package ldap
