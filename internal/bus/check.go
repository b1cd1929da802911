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
	if n < 0 || window <= 0 {
		return fmt.Errorf("counting %q: n must not be negative and the window above zero, got %d and %v", key, n, window)
	}
	return nil
}
