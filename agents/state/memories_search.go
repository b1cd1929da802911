package state

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/svc-gateway/svc/agents/memory"
)

const (
	// The newest memories of a scope that have a word: the index yields them in this order without sorting.
	wordMemories   = `SELECT rowid FROM memory_words WHERE memory_words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?`
	memoryBySeq    = selectMemories + ` WHERE seq = ?`
	maxMemoryWords = 24
	perWord        = 256 // memories that are looked at for a word; of frequent words the newest
	perSearch      = 96  // memories that are read for a search
)

// scope is the range of memories that one agent of an owner has.
type scope struct{ id, next, entries, words int64 }

func (c *scope) scan(row interface{ Scan(...any) error }) error {
	return row.Scan(&c.id, &c.next, &c.entries, &c.words)
}

// first is the seq that the numbers of the scope are added to.
func (c *scope) first() int64 { return c.id << 32 }

// SearchMemories implements [memory.Store]. FTS5 has a bm25 of its own, which counts each word in everybody's
// memories before it can rank those of one user. What is counted here stays within the owner's, and takes the
// same time however many others there are.
func (s *Store) SearchMemories(ctx context.Context, q memory.Query) ([]memory.Found, error) {
	m := matches{words: q.Words[:min(len(q.Words), maxMemoryWords)], has: map[int64]uint32{}}
	m.counts = make([]float64, len(m.words))
	agents := []string{"", q.Agent}
	if q.Agent == "" {
		agents = agents[:1]
	}
	for _, agent := range agents {
		var c scope
		switch err := c.scan(s.db.Read().QueryRowContext(ctx, findScope, q.Owner, agent)); {
		case errors.Is(err, sql.ErrNoRows):
			continue
		case err != nil:
			return nil, s.fault("searching memories", err)
		}
		if err := m.look(ctx, s, c); err != nil {
			return nil, err
		}
	}
	return m.best(ctx, s, q.Limit)
}

// matches are the memories that have some of the words.
type matches struct {
	words          []string
	counts         []float64        // for each word, how many memories have it, estimated where they are many
	has            map[int64]uint32 // for each memory, which words it has, as far as was seen
	entries, total float64          // memories, and words of all of them
}

// look adds what a scope has.
func (m *matches) look(ctx context.Context, s *Store, c scope) error {
	m.entries += float64(c.entries)
	m.total += float64(c.words)
	frequent := ""
	var mask uint32
	for i, word := range m.words {
		seqs, err := m.find(ctx, s, c, `"`+word+`"`)
		if err != nil {
			return err
		}
		for _, seq := range seqs {
			m.has[seq] |= 1 << i
		}
		n := float64(len(seqs))
		if len(seqs) == perWord { // as frequent in the older ones as in those that were looked at
			n = max(n, n/float64(c.first()+c.next-seqs[len(seqs)-1])*float64(c.entries))
			if frequent != "" {
				frequent += " AND "
			}
			frequent, mask = frequent+`"`+word+`"`, mask|1<<i
		}
		m.counts[i] += n
	}
	if bits.OnesCount32(mask) < 2 {
		return nil
	}
	seqs, err := m.find(ctx, s, c, frequent) // an old memory that has all the frequent words
	for _, seq := range seqs {
		m.has[seq] |= mask
	}
	return err
}

func (m *matches) find(ctx context.Context, s *Store, c scope, match string) (seqs []int64, err error) {
	for seq, err := range each(ctx, s, "searching memories", scanSeq, wordMemories, match, c.first(), c.first()+c.next, perWord) {
		if err != nil {
			return nil, err
		}
		seqs = append(seqs, seq)
	}
	return seqs, nil
}

func scanSeq(row interface{ Scan(...any) error }) (seq int64, err error) {
	err = row.Scan(&seq)
	return seq, err
}

// best reads the most promising memories, and returns those that fit best.
func (m *matches) best(ctx context.Context, s *Store, limit int) ([]memory.Found, error) {
	seqs := make([]int64, 0, len(m.has))
	for seq := range m.has {
		seqs = append(seqs, seq)
	}
	promise := func(seq int64) float64 { return m.score(m.has[seq], m.average()) }
	slices.SortFunc(seqs, func(a, b int64) int { return cmp.Or(cmp.Compare(promise(b), promise(a)), cmp.Compare(b, a)) })
	var found []memory.Found
	for _, seq := range seqs[:min(len(seqs), max(perSearch, limit))] {
		e, err := scanMemory(s.db.Read().QueryRowContext(ctx, memoryBySeq, seq))
		if errors.Is(err, sql.ErrNoRows) {
			continue // it was forgotten meanwhile
		}
		if err != nil {
			return nil, s.fault("reading a memory", fmt.Errorf("memory %d: %w", seq, err))
		}
		said := memory.Words(e.Text)
		has := m.has[seq]
		for i, word := range m.words {
			if slices.Contains(said, word) {
				has |= 1 << i
			}
		}
		found = append(found, memory.Found{Entry: e, Score: m.score(has, float64(len(said)))})
	}
	slices.SortStableFunc(found, func(a, b memory.Found) int { return cmp.Compare(b.Score, a.Score) })
	return found[:min(len(found), limit)], nil
}

func (m *matches) average() float64 { return m.total / max(1, m.entries) }

// score is BM25 with the usual parameters. A word counts once for a memory, so that it does not help to
// repeat it.
func (m *matches) score(has uint32, length float64) (score float64) {
	const k, b = 1.2, 0.75
	for i, n := range m.counts {
		if has&(1<<i) != 0 {
			rarity := math.Log(1 + (max(0, m.entries-n)+0.5)/(n+0.5))
			score += rarity * (k + 1) / (1 + k*(1-b+b*length/m.average()))
		}
	}
	return score
}
