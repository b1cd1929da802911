// Package identity knows the users and their tokens, and finds out who sends a request.
//
//	s, err := identity.New(ctx, users, log, bus) // on a Store, such as that of package sqlite
//	secret, created, err := s.Bootstrap(ctx) // the first start makes the user admin
//	principal, err := s.Verify(ctx, token)   // on every request
//	principal, err = s.Resolve(ctx, principal) // the same one as of now
//	session, secret, err := s.Login(ctx, identity.NewSession{Principal: principal, …})
//
// # Users and tokens
//
// A user has a role and may have an end (Expires) or be disabled. A token is "svc_", 43 base62
// characters of 256 random bits and 6 of a checksum, so that a mistyped one is told apart from
// an unknown one without a look-up and a leaked one can be searched for. It is shown once;
// what is stored is its SHA-256. Names of users never contain a colon: "os:<name>" is a user of
// the operating system (see [OSPrincipal]).
//
// # People from outside
//
// Somebody whom a directory, an identity provider or a certificate authority vouches for is let
// in by [Service.Admit] and gets an account the first time: one for each (source, issuer,
// subject), with a name that nobody else can come into, not even when it was removed. Role and
// groups come from the source with every credential and are never the account's.
//
// # Sessions
//
// [Service.Login] makes a session out of a principal. Its secret has the form of a token and is
// kept in the same way. It works, as one kind only, until it expires or is ended, and no longer
// than what it came from: token, account, or the identity provider's session, which is renewed
// when that is due. Ending one is a change; opening one is not, so that logins empty no cache.
//
// # Changes
//
// Every change is made by an actor who must have the action admin (one's own sessions anybody
// may end), is recorded durably in the audit log before it takes effect, and is a
// compare-and-swap on the revision of the whole identity: what was decided on an earlier state is
// decided again, and after a few times [ErrConflict]. A change that would leave no admin with a
// working token while there was one is refused ([ErrLastAdmin]); rotating a token always leaves
// one. [Admin] is the interface of all of them: [Service.As] gives it on the database, package
// adminapi over HTTP.
//
// # Staleness
//
// Verify, Session, Admit and Resolve keep tokens, sessions and accounts in a bounded cache that
// belongs to one revision. A change in this process is visible when its call returns; one of
// another node when its message on [TopicChanges] arrives; one that nobody announced after at most
// one second, because the revision is read from the store that often. While the bus is cut off, and
// announcements go unheard, the revision is read for every look-up, and once a second for the streams
// that wait. When it cannot be read, verifying fails. What was refused is not cached.
//
// What others know is as old as they say: a directory is asked on every use and may remember its
// answers for a short while ([Directory]), an identity provider when [Upstream.Due] has passed; while
// it cannot be asked, its sessions go on for ten minutes.
//
// # Passwords
//
// [Passwords] asks a [Directory] and counts what was wrong: by user, by address and by both, under
// one form for all spellings of a name ([FoldName]) and of an address ([FoldAddress]). Counts and
// delays are on the bus, lockouts in the store. While there is one the directory is not asked.
// Attempts of a user at an address are made one after the other, so that guesses sent side by side
// are no more than guesses sent one by one.
//
// # Providers
//
// A [Chain] of providers authenticates requests; each says not mine, yes or no. See
// [NewTokenProvider], [NewBasicProvider], [NewCertificateProvider], [NewSessionProvider] and
// [NewNoneProvider].
//
// # Storage
//
// A [Store] keeps the data. Package sqlite has the embedded one, and package identitytest holds what
// every other has to pass. While it cannot be read or written, what needs it fails with
// [ErrUnavailable]: nobody is let in and nothing is changed.
//
// All types are safe for concurrent use.
package identity
