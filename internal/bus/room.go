package bus

import (
	"context"
	"time"
)

// Enter implements Bus.
func (m *Memory) Enter(ctx context.Context, key, member string, most int64, ttl time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := CheckEnter(key, member, most, ttl); err != nil {
		return false, err
	}
	var ok bool
	m.rooms.update(key, func(e entry[map[string]time.Time]) entry[map[string]time.Time] {
		now := time.Now()
		for name, out := range e.value {
			if !out.After(now) {
				delete(e.value, name)
			}
		}
		if _, in := e.value[member]; !in && int64(len(e.value)) >= most {
			return e
		}
		ok = true
		if e.value == nil {
			e.value = make(map[string]time.Time)
		}
		e.value[member] = now.Add(ttl)
		if e.value[member].After(e.until) {
			e.until = e.value[member]
		}
		return e
	})
	return ok, nil
}

// Leave implements Bus.
func (m *Memory) Leave(ctx context.Context, key, member string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.rooms.update(key, func(e entry[map[string]time.Time]) entry[map[string]time.Time] {
		delete(e.value, member)
		if len(e.value) == 0 {
			return entry[map[string]time.Time]{}
		}
		return e
	})
	return nil
}
