package state

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	keepVector   = `INSERT INTO memory_vectors (seq, model, vector) SELECT seq, ?2, ?3 FROM memories WHERE id = ?1 ON CONFLICT (seq) DO UPDATE SET model = excluded.model, vector = excluded.vector`
	scopeVectors = `SELECT seq, vector FROM memory_vectors WHERE seq BETWEEN ? AND ? AND model = ? ORDER BY seq DESC LIMIT ?`
	bareMemories = ` LEFT JOIN memory_vectors v ON v.seq = memories.seq AND v.model = ? WHERE owner = ? AND v.seq IS NULL ORDER BY memories.seq DESC LIMIT ?`
	perScope     = 4096 // vectors of a scope that are looked at, the newest
)

// KeepVector implements [memory.Store].
func (s *Store) KeepVector(ctx context.Context, id, model string, v []float32) error {
	return s.write(ctx, "keeping a vector", func(tx *store.Tx) error {
		_, err := tx.Exec(keepVector, id, model, small(v))
		return err
	})
}

// BareMemories implements [memory.Store].
func (s *Store) BareMemories(ctx context.Context, owner, model string, limit int) (list []memory.Entry, err error) {
	for e, err := range each(ctx, s, "listing memories", scanMemory, selectMemories+bareMemories, model, owner, limit) {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// NearMemories implements [memory.Store].
func (s *Store) NearMemories(ctx context.Context, q memory.Near) ([]memory.Found, error) {
	type near struct {
		seq   int64
		score float64
	}
	var all []near
	wanted := small(q.Vector)
	for _, c := range []string{"", q.Agent}[:min(2, 1+len(q.Agent))] {
		var in scope
		switch err := in.scan(s.db.Read().QueryRowContext(ctx, findScope, q.Owner, c)); {
		case errors.Is(err, sql.ErrNoRows):
			continue
		case err != nil:
			return nil, s.fault("searching memories", err)
		}
		scan := func(row interface{ Scan(...any) error }) (n near, err error) {
			var v []byte
			err = row.Scan(&n.seq, &v)
			n.score = cosine(wanted, v)
			return n, err
		}
		for n, err := range each(ctx, s, "searching memories", scan, scopeVectors, in.first(), in.first()+in.next, q.Model, perScope) {
			if err != nil {
				return nil, err
			}
			if n.score > 0 {
				all = append(all, n)
			}
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.seq, a.seq)) })
	var found []memory.Found
	for _, n := range all[:min(len(all), q.Limit)] {
		e, err := scanMemory(s.db.Read().QueryRowContext(ctx, memoryBySeq, n.seq))
		if errors.Is(err, sql.ErrNoRows) {
			continue // it was forgotten meanwhile
		}
		if err != nil {
			return nil, s.fault("reading a memory", fmt.Errorf("memory %d: %w", n.seq, err))
		}
		found = append(found, memory.Found{Entry: e, Score: n.score})
	}
	return found, nil
}

// small is a vector with a byte for each number, as parts of its largest: an eighth of what it was, and as good
// for telling which of others is nearest.
func small(v []float32) []byte {
	most := float32(0)
	for _, x := range v {
		most = max(most, float32(math.Abs(float64(x))))
	}
	b := make([]byte, len(v))
	if most == 0 {
		return b
	}
	for i, x := range v {
		b[i] = byte(int8(math.Round(float64(x / most * 127))))
	}
	return b
}

// cosine is that of the angle between two vectors; 0 when they are not of one space.
func cosine(a, b []byte) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb int64
	for i, x := range a {
		x, y := int64(int8(x)), int64(int8(b[i]))
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(aa)*float64(bb))
}
