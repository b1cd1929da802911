package fetch_test

import (
	"io"
	"log"
)

// discard takes what servers of the tests log of clients that hang up.
var discard = log.New(io.Discard, "", 0)
