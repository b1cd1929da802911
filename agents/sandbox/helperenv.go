package sandbox

// helperEnvironment is that of the helper, which needs none. Tests of what each layer is for have a
// helper that reads some.
var helperEnvironment = func() []string { return []string{} }
