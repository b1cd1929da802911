// Package compact keeps conversations within what a model can be shown at once.
//
//	c := compact.Compactor{Window: 100_000, Summarise: ask}
//	fitted, err := c.Fit(ctx, request)
//
// When the estimate of a request comes near the window, the older messages are summarised. What the model
// is shown then is the summary, the user's first message and last one word for word, and the last
// exchanges. A call and its results are one exchange, and stay together. The summary has the labels of all
// that it stands for, so that nothing is trusted more because it was summarised. When summarising fails,
// the older exchanges are left out, and a marker says so. What does not fit even then is [ErrTooLarge].
//
// The messages themselves do not change. What [Fit] returns as [model.Compaction] is to be kept with the
// message that the model answers with: the next Fit of the conversation begins with it, as long as the
// messages that it stands for are the same. All of it is safe for concurrent use.
package compact
