package redis

import (
	"context"
	"crypto/sha1" // the server knows scripts by it
	_ "embed"
	"encoding/hex"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// script is a Lua script that the server knows by its hash once it has run.
type script struct{ text, hash string }

func newScript(text string) script {
	sum := sha1.Sum([]byte(text))
	return script{text, hex.EncodeToString(sum[:])}
}

//go:embed scripts/lease.lua
var leaseText string

//go:embed scripts/release.lua
var releaseText string

//go:embed scripts/enter.lua
var enterText string

//go:embed scripts/count.lua
var countText string

//go:embed scripts/take.lua
var takeText string

var (
	leaseScript   = newScript(leaseText)
	releaseScript = newScript(releaseText)
	enterScript   = newScript(enterText)
	countScript   = newScript(countText)
	takeScript    = newScript(takeText)
)

// byHash is the command that runs a script which the server should know; whole is the one that
// brings it along.
func (s script) byHash(ctx context.Context, keys []string, args ...any) *goredis.Cmd {
	return goredis.NewCmd(ctx, arguments("evalsha", s.hash, keys, args)...)
}

func (s script) whole(ctx context.Context, keys []string, args ...any) *goredis.Cmd {
	return goredis.NewCmd(ctx, arguments("eval", s.text, keys, args)...)
}

func arguments(command, text string, keys []string, args []any) []any {
	all := append(make([]any, 0, 3+len(keys)+len(args)), command, text, len(keys))
	for _, k := range keys {
		all = append(all, k)
	}
	return append(all, args...)
}

// once is a command that is not sent again when it is unknown whether the server has done it.
type once struct{ *goredis.Cmd }

// NoRetry implements goredis.Cmder.
func (once) NoRetry() bool { return true }

// eval runs a script. One that this process can stand in for counts something, and is not sent
// again when it is unknown whether the server has done so; any other may be done twice.
func (b *Bus) eval(ctx context.Context, s script, standIn bool, keys []string, args ...any) (*goredis.Cmd, error) {
	var cmd *goredis.Cmd
	send := func(ctx context.Context) error {
		if standIn {
			return b.client.Process(ctx, once{cmd})
		}
		return b.client.Process(ctx, cmd)
	}
	err := b.do(ctx, standIn, func(ctx context.Context) error {
		cmd = s.byHash(ctx, keys, args...)
		err := send(ctx)
		if goredis.HasErrorPrefix(err, "NOSCRIPT") { // the server was restarted, or is another
			cmd = s.whole(ctx, keys, args...)
			err = send(ctx)
		}
		return err
	})
	return cmd, err
}

// do runs an operation within its time. standIn says that this process can do it by itself. An
// error is the context's own or a [*unavailable]; that there is no such key is none.
func (b *Bus) do(ctx context.Context, standIn bool, op func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := b.keeper.away(standIn); err != nil {
		return err
	}
	inTime, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	err := op(inTime)
	switch {
	case err == nil, errors.Is(err, goredis.Nil):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return b.keeper.suspect(err)
}

// milliseconds rounds up, so that nothing ends before its time.
func milliseconds(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }
