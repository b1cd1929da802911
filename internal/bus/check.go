package bus

import (
	"fmt"
	"time"
)

// CheckLease returns what is wrong with the arguments of Lease, for implementations of Bus.
func CheckLease(key, holder string, ttl time.Duration) error {
	if holder == "" || ttl <= 0 {
		return fmt.Errorf("leasing %q: a holder and a ttl above zero are needed, got %q and %v", key, holder, ttl)
	}
	return nil
}

// CheckEnter returns what is wrong with the arguments of Enter, for implementations of Bus.
func CheckEnter(key, member string, most int64, ttl time.Duration) error {
	if member == "" || most <= 0 || ttl <= 0 {
		return fmt.Errorf("entering %q: a member, and a limit and a ttl above zero are needed, got %q, %d and %v", key, member, most, ttl)
	}
	return nil
}

// CheckCount returns what is wrong with the arguments of Count, for implementations of Bus.
func CheckCount(key string, n int64, window time.Duration) error {
	if window <= 0 {
		return fmt.Errorf("counting %q: the window must be above zero, got %v", key, window)
	}
	return nil
}
