package settings

// Budget bounds what models may be used for in a day, which begins at midnight UTC. 0 is no limit.
type Budget struct {
	// UserTokens are the tokens that one user's runs may use. Default: 0.
	UserTokens int
	// UserCalls are the model turns that one user's runs may take. Default: 0.
	UserCalls int
	// Tokens are the tokens that all runs together may use. Default: 0.
	Tokens int
	// Calls are the model turns that all runs together may take. Default: 0.
	Calls int
}
