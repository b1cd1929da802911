package model

import (
	_ "embed" // the weights
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"github.com/svc-gateway/svc/scanner"
)

const (
	// Window is how many tokens are judged together.
	Window = 32
	// Least is how many tokens a text must have to be judged.
	Least = 3
	// Features is how many different features there are; the hash of one counts modulo this number.
	Features = 1 << 20
	// Words is the same for the words by which a category is chosen.
	Words = 1 << 16

	// Floor is what a token counts at least: harmless words around an attack do not hide it.
	Floor = -2
	// Repeat is how many tokens back one is a repetition, which is no further sign of an attack: so lists
	// and tables do not add up to one.
	Repeat = 16
)

// Categories are those that findings can have, in the order in which weights are kept.
var Categories = [...]scanner.Category{scanner.RoleHijacking, scanner.DataExfiltration, scanner.PrivilegeEscalation}

// Params are the numbers of a model beside its weights.
type Params struct {
	Scale float32 // what a weight of 1 is worth
	Bias  float32
	Low   float32 // a window from here on is a finding of low confidence
	High  float32 // and from here on one of high confidence
}

// Weights is a trained model. It does not change and is safe for concurrent use.
type Weights struct {
	params    Params
	features  string // a signed byte for each feature
	words     string // a signed byte for each category of each word
	floor     int32
	low, high [Window + 1]int32
}

// The file is this mark, the parameters as floats of 32 bits, the weights of features, those of
// words, and a CRC-32 of all that, all in little-endian order.
const (
	mark     = "svcmodel1\n"
	headSize = len(mark) + 16
	fileSize = headSize + Features + Words*len(Categories) + 4
)

// ErrWeights is matched by the errors of Load.
var ErrWeights = errors.New("these are no weights of a model")

// Load reads weights as Encode writes them.
func Load(file string) (*Weights, error) {
	if len(file) != fileSize {
		return nil, fmt.Errorf("%w: %d bytes instead of %d", ErrWeights, len(file), fileSize)
	}
	if file[:len(mark)] != mark {
		return nil, fmt.Errorf("%w: the file begins with %q instead of %q", ErrWeights, file[:len(mark)], mark)
	}
	body := fileSize - 4
	if got, want := crc32.ChecksumIEEE([]byte(file[:body])), binary.LittleEndian.Uint32([]byte(file[body:])); got != want {
		return nil, fmt.Errorf("%w: the checksum is %08x instead of %08x", ErrWeights, got, want)
	}
	var p [4]float32
	for i := range p {
		p[i] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(file[len(mark)+4*i:][:4])))
		if p[i] != p[i] || math.IsInf(float64(p[i]), 0) {
			return nil, fmt.Errorf("%w: parameter %d is no number", ErrWeights, i+1)
		}
	}
	w := &Weights{
		params:   Params{Scale: p[0], Bias: p[1], Low: p[2], High: p[3]},
		features: file[headSize : headSize+Features], words: file[headSize+Features : body],
	}
	if w.params.Scale <= 0 || w.params.Low > w.params.High {
		return nil, fmt.Errorf("%w: the scale is not above 0, or the threshold of low confidence above that of high", ErrWeights)
	}
	w.floor = int32(math.Round(Floor / float64(w.params.Scale)))
	for n := range w.low {
		w.low[n], w.high[n] = w.sumFor(w.params.Low, n), w.sumFor(w.params.High, n)
	}
	return w, nil
}

// Encode writes a model, with a weight for each feature, and for each word one for each category.
func Encode(p Params, features []int8, words []int8) ([]byte, error) {
	if len(features) != Features || len(words) != Words*len(Categories) {
		return nil, fmt.Errorf("encoding weights: %d of features and %d of words instead of %d and %d", len(features), len(words), Features, Words*len(Categories))
	}
	out := append(make([]byte, 0, fileSize), mark...)
	for _, v := range []float32{p.Scale, p.Bias, p.Low, p.High} {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	for _, list := range [][]int8{features, words} {
		for _, v := range list {
			out = append(out, byte(v))
		}
	}
	return binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(out)), nil
}

// of returns the weight of a feature.
func (w *Weights) of(feature uint32) int32 { return int32(int8(w.features[feature%Features])) }

// Norm is what the sum of the weights of n tokens is multiplied with.
func Norm(n int) float64 { return 1 / math.Sqrt(float64(n)+4) }

// margin is how surely n tokens, whose weights make the sum, are an attack.
func (w *Weights) margin(sum int32, n int) float64 {
	return float64(w.params.Bias) + float64(w.params.Scale)*float64(sum)*Norm(n)
}

// sumFor is the smallest sum that has at least the margin.
func (w *Weights) sumFor(margin float32, n int) int32 {
	sum := math.Ceil(float64(margin-w.params.Bias) / (float64(w.params.Scale) * Norm(n)))
	return int32(max(math.MinInt32, min(math.MaxInt32, sum)))
}

//go:embed weights.bin
var embedded string

// Default returns the model that comes with the program.
var Default = sync.OnceValue(func() *Weights {
	w, err := Load(embedded)
	if err != nil {
		panic(fmt.Errorf("loading the embedded model: %w", err)) // a test loads it
	}
	return w
})
