package rest

// Aside calls f on a goroutine of its own and returns what f does; a panic becomes the caller's.
// A database's driver makes deep stacks, and the stack of a goroutine that afterwards waits for
// events, maybe for hours, would stay as large.
func Aside[T any](f func() (T, error)) (value T, err error) {
	panicked := make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		value, err = f()
	}()
	if p := <-panicked; p != nil {
		panic(p)
	}
	return value, err
}
