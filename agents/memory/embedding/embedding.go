// Package embedding has texts turned into vectors by a server that speaks OpenAI's embeddings protocol.
//
//	c := embedding.New(embedding.Config{URL: "http://127.0.0.1:11434/v1", Model: "nomic-embed-text"})
//	vectors, err := c.Embed(ctx, []string{"the backup of db01 runs at 02:00"})
//
// The key goes to that server and to no other: redirects are not followed. What the server answers is bounded
// and checked. The texts of its errors are dropped, since they can hold keys. A Client is safe for concurrent
// use.
package embedding

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/model"
)

// Bounds of an answer.
const (
	maxNumbers = 4096 // of one vector
	maxBody    = 16 << 20
)

// Config says which server is asked. Fields without a default are required.
type Config struct {
	URL     string        // address of the API, up to and without /embeddings
	Model   string        // as the server knows it
	Key     model.Secret  // sent as a bearer token; empty: none is
	Timeout time.Duration // of one request; default 2 s
}

// Client asks a server. Make it with [New].
type Client struct {
	Config
	http *http.Client
}

// New returns a client.
func New(c Config) *Client {
	if c.Timeout == 0 {
		c.Timeout = 2 * time.Second
	}
	return &Client{c, &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Name says which vectors are comparable: those of one model on one server. Names of models are anybody's.
func (c *Client) Name() string {
	sum := sha256.Sum256([]byte(strings.TrimRight(c.URL, "/")))
	return c.Model + "@" + hex.EncodeToString(sum[:4])
}

// Embed returns a vector of length one for each text.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	body, err := json.Marshal(map[string]any{"model": c.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.URL, "/")+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the embeddings server is not valid")
	}
	req.Header.Set("Content-Type", "application/json")
	if key := c.Key.Reveal(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the embeddings server: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking the embeddings server: it answered with the status %d", resp.StatusCode)
	}
	vectors, err := read(io.LimitReader(resp.Body, maxBody), len(texts))
	if err != nil {
		return nil, fmt.Errorf("reading the embeddings server's answer: %w", err)
	}
	return vectors, nil
}

func read(r io.Reader, want int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return nil, errors.New("it is not the JSON of embeddings, or too large")
	}
	vectors := make([][]float32, want)
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= want || vectors[d.Index] != nil {
			return nil, fmt.Errorf("there is no text %d to have a vector", d.Index)
		}
		v, err := unit(d.Embedding)
		if err != nil {
			return nil, err
		}
		vectors[d.Index] = v
	}
	for i, v := range vectors {
		if v == nil || len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("text %d has no vector of the length of the others", i)
		}
	}
	return vectors, nil
}

// unit is a vector of length one.
func unit(numbers []float64) ([]float32, error) {
	if len(numbers) == 0 || len(numbers) > maxNumbers {
		return nil, fmt.Errorf("a vector has %d numbers, of %d at most", len(numbers), maxNumbers)
	}
	sum := 0.0
	for _, x := range numbers {
		sum += x * x
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsInf(length, 0) || math.IsNaN(length) {
		return nil, errors.New("a vector has no direction")
	}
	v := make([]float32, len(numbers))
	for i, x := range numbers {
		v[i] = float32(x / length)
	}
	return v, nil
}
