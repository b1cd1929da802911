package syslog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/duckwire"
)

const (
	gather     = time.Second      // after the first message, until those that came are stored together
	storeTime  = 30 * time.Second // for one batch
	sweepEvery = time.Minute      // how often messages that are too old are removed
	attempts   = 3                // for one batch: the writer may be starting again
	maxBatch   = 32 << 20         // bytes of messages; as JSON they are six times as many at most, of 256 MiB that are taken
)

// severityWarning is that of the receiver's own messages.
const severityWarning = 4

// store stores what comes until the queue is closed and empty.
func (r *Receiver) store() {
	var told Totals
	swept := time.Time{}
	for more := true; more; {
		r.queue.wait(gather)
		r.countLost()
		var list []duckwire.Message
		list, more = r.queue.takeAll()
		came, now := int64(len(list)), r.Totals()
		if missing := now.missing() - told.missing(); missing > 0 {
			r.config.Log.Warn("messages are missing: they came faster than they could be stored", zap.Int64("count", missing))
			own := ownMessage(fmt.Sprintf("%d messages are missing here: they came faster than they could be stored", missing))
			list = slices.Insert(list, 0, own)
		}
		if len(list) == 0 {
			continue
		}
		keep := time.Duration(0)
		if time.Since(swept) > sweepEvery {
			keep, swept = r.config.Keep, time.Now()
		}
		left, err := r.addAll(list, keep)
		if left <= came { // the receiver's own, which is the first one, is stored
			told = now
		}
		left = min(left, came)
		r.count.stored.Add(came - left)
		r.count.dropped.Add(left)
		if err != nil {
			r.config.Log.Error("storing messages failed", zap.Int64("count", left), zap.Error(err))
		}
	}
}

// addAll stores messages, a batch after the other, and returns how many are left when that fails.
func (r *Receiver) addAll(list []duckwire.Message, keep time.Duration) (left int64, err error) {
	for len(list) > 0 {
		n, size := 0, 0
		for ; n < len(list) && (n == 0 || size+sizeOf(&list[n]) <= r.batch); n++ {
			size += sizeOf(&list[n])
		}
		if err := r.add(list[:n], keep); err != nil {
			return int64(len(list)), err
		}
		list, keep = list[n:], 0
	}
	return 0, nil
}

// add stores a batch of messages, all or none.
func (r *Receiver) add(list []duckwire.Message, keep time.Duration) (err error) {
	if r.config.Low() {
		return errors.New("disk space is low")
	}
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for i := range list {
		if err := enc.Encode(&list[i]); err != nil {
			return fmt.Errorf("encoding a message: %w", err)
		}
	}
	for i := range attempts {
		if i > 0 && !r.queue.pause(time.Duration(i)*time.Second) {
			break
		}
		ctx, cancel := context.WithTimeout(context.Background(), storeTime)
		_, err = r.config.Database.AddMessages(ctx, r.config.Table, keep, bytes.NewReader(lines.Bytes()))
		cancel()
		if err == nil {
			return nil
		}
	}
	return err
}

// ownMessage is a message of the receiver, for who reads the table.
func ownMessage(text string) duckwire.Message {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	now, severity := time.Now().UTC(), severityWarning
	return duckwire.Message{
		Received: now, Sent: &now, Transport: "internal", Format: formNew, Facility: "syslog", Severity: &severity, Level: "warning",
		Host: host, App: "svc-syslog", Text: text,
	}
}
