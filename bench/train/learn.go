package main

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/svc-gateway/svc/scanner/model"
)

const (
	folds  = 5
	noFold = -1

	epochs = 8
	rate   = 3 // how much a window teaches in the first epoch

	clearAttack, clearHarmless = 4.0, -2.5 // margins
)

// learner learns the weights of features by logistic regression, one window after the other.
type learner struct {
	w    []float32
	bias float64
	rate float64
	r    *rand.Rand
}

func newLearner(seed uint64) *learner {
	return &learner{w: make([]float32, model.Features), bias: -4, r: rand.New(rand.NewPCG(seed, 8))}
}

// margin is the sum for the tokens of a text from one to another.
func (l *learner) margin(d *doc, from, to int) float64 {
	var sum float32
	for i := from; i < to; i++ {
		sum += l.token(d, i)
	}
	return float64(sum)*model.Norm(to-from) + l.bias
}

// token is the sum for one token.
func (l *learner) token(d *doc, i int) float32 {
	var sum float32
	for _, f := range d.of(i, i+1) {
		sum += l.w[f]
	}
	if d.again[i] {
		sum = min(sum, 0)
	}
	return max(sum, model.Floor)
}

// learn learns from a window, unless it is told clearly already: so what is in all harmless texts does
// not become a sign of harmlessness that hides an attack.
func (l *learner) learn(d *doc, from, to int, weight float64) {
	margin := l.margin(d, from, to)
	if d.attack && margin > clearAttack || !d.attack && margin < clearHarmless {
		return
	}
	g := 1 / (1 + math.Exp(-margin))
	if d.attack {
		g--
	}
	g *= weight
	step := float32(l.rate * g * model.Norm(to-from))
	for i := from; i < to; i++ {
		lots := l.r.Uint64()
		for _, f := range d.of(i, i+1) {
			if lots&1 == 0 { // half of the features learn, so that none relies on the others
				l.w[f] -= step
			}
			lots = lots>>1 | lots<<63
		}
	}
}

// worst returns the window of a text that most looks like an attack, and its margin.
func (l *learner) worst(d *doc) (from, to int, margin float64) {
	n := d.len()
	if n <= model.Window {
		from, to, margin = 0, n, l.margin(d, 0, n)
	} else {
		margin = -math.MaxFloat64
	}
	sums := make([]float32, n)
	for i := range n {
		sums[i] = l.token(d, i)
	}
	var sum float32
	for i := range n {
		if sum += sums[i]; i >= model.Window {
			sum -= sums[i-model.Window]
		}
		if i < model.Window-1 {
			continue
		}
		if m := float64(sum)*model.Norm(model.Window) + l.bias; m > margin {
			from, to, margin = i+1-model.Window, i+1, m
		}
	}
	return from, to, margin
}

// window is a part of a text to learn from.
type window struct {
	d        *doc
	from, to int
}

// windows draws the windows of a text for the next epoch.
func (l *learner) windows(list []window, d *doc, epoch int, r *rand.Rand) []window {
	n := d.len()
	if n < model.Least {
		return list
	}
	size := min(n, model.Window)
	switch {
	case d.attack && d.to > 0: // its place is known
		return append(list, d.around(size, r))
	case d.attack && n <= model.Window:
		return append(list, window{d, 0, n})
	case d.attack:
		if epoch == 0 && !d.made { // which part it is shows only later
			return list
		}
		from, to, _ := l.worst(d)
		return append(list, window{d, from, to})
	}
	for range min(4, 1+n/64) {
		from := r.IntN(n - size + 1)
		list = append(list, window{d, from, from + size})
	}
	if epoch > 0 {
		from, to, _ := l.worst(d)
		list = append(list, window{d, from, to})
	}
	return list
}

// around draws a window around an attack, or within one that is longer.
func (d *doc) around(size int, r *rand.Rand) window {
	span := d.last - d.first
	from := d.first
	if span > size {
		from += r.IntN(span - size + 1)
	} else {
		from -= r.IntN(size - span + 1)
	}
	from = max(0, min(from, d.len()-size))
	return window{d, from, from + size}
}

// train trains a model without the texts of a fold.
func train(s *set, seed uint64, without int) *learner {
	l := newLearner(seed)
	r := rand.New(rand.NewPCG(seed, 7))
	count := make(map[string]float64)
	for _, d := range s.docs {
		count[d.source+attackMark(d)]++
	}
	for epoch := range epochs {
		l.rate = rate * float64(epochs-epoch) / epochs
		var list []window
		for _, d := range s.docs {
			if !d.unfit && (without == noFold || d.fold != without) {
				list = l.windows(list, d, epoch, r)
			}
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, w := range list {
			l.learn(w.d, w.from, w.to, weigh(w.d, count[w.d.source+attackMark(w.d)]))
		}
	}
	return l
}

func attackMark(d *doc) string {
	if d.attack {
		return "!"
	}
	return ""
}

// weigh is how much a text of a source of so many counts. What people collected counts more than what
// was made.
func weigh(d *doc, count float64) float64 {
	switch {
	case d.attack && !d.made:
		return min(3, 600/count)
	case !d.attack && !d.made:
		return min(1.5, 1500/count+0.3)
	}
	return 1
}

// crossValidate judges each text by a model that was trained without its fold. What the templates made is
// in every one, and gets no score.
func crossValidate(s *set, seed uint64) map[*doc]float64 {
	scores := make(map[*doc]float64)
	var mu sync.Mutex
	var all sync.WaitGroup
	turns := make(chan struct{}, 2)
	for fold := range folds {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			l := train(s, seed, fold)
			for _, d := range s.docs {
				if d.fold == fold && !d.made && d.len() >= model.Least {
					_, _, m := l.worst(d)
					mu.Lock()
					scores[d] = m
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return scores
}
