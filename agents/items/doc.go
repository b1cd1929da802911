// Package items is the long-term store: JSON objects that clients keep beside threads, by namespace and
// key.
//
// A namespace is a list of labels, such as ["users", "42", "preferences"]. Each user has a space of their
// own: what one user keeps under a namespace is not there for another, whatever they call theirs. Admins
// reach everybody's. All of it goes through a [Keeper], which acts for a principal:
//
//	keeper := items.New(items.Config{Store: store, …})
//	err := keeper.Put(ctx, principal, items.Item{Namespace: ns, Key: "theme", Value: value})
//	found, err := keeper.Search(ctx, principal, items.Query{Prefix: ns[:1], Text: "dark", Limit: 10})
//
// # Guarantees
//
// What a method has returned without error is there after a crash of the process. The number of a user's
// items and their size are bounded, whatever is written at the same time. An item that has expired is not
// there, whether it has been removed yet or not. A value is kept as it was sent; [Keeper.Show] redacts
// credentials in it, as in events of runs.
//
// # Concurrency
//
// A Keeper is safe for concurrent use, and so are several, in several processes, on one store.
package items
