// Package settings knows every setting of the service, where each value came from, and
// where the service keeps its files.
//
// # Use
//
//	home, err := settings.Locate(os.LookupEnv, fallback)
//	s, values, err := settings.Resolve(settings.Layers{Env: os.LookupEnv, File: home.Config()})
//
// A setting has one name, section.key. Its value is taken from the first layer that has it:
// a flag, the environment variable SVC_<SECTION>_<KEY>, the Caddyfile, the file
// config/api.json of the data folder, and last the default. [Options] lists all of them.
//
// Some settings are lists of objects and have no section, such as the identity providers. Each
// list is declared in a file of its own: its type, its fields and what holds for them, and a
// method of [Settings] that returns it. Options and fields are of the same kinds.
//
// # Guarantees
//
// Nothing is guessed: an unknown name, a duplicate, a value of the wrong type or out of range
// is an error that names the setting, the place (file and line where there is one) and the
// fix; all errors are reported at once. No setting holds a secret: those that need one
// say where it is, in an environment variable or a file (see [Reference]).
//
// # Concurrency
//
// The functions are safe for concurrent use. Settings is plain data: treat it as read-only
// once it is shared.
package settings
