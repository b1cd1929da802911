package device_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/device/devicetest"
	"github.com/svc-gateway/svc/agents/inventory"
)

// shelf is what stands in the place of the table.
type shelf inventory.List

func (s shelf) Load(context.Context) (inventory.List, error) { return inventory.List(s), nil }

// lab has devices whose keys are pinned.
type lab struct {
	t    *testing.T
	keys *device.Keys
	list inventory.List
}

func newLab(t *testing.T) *lab {
	return &lab{t: t, keys: device.OpenKeys(filepath.Join(t.TempDir(), "known_hosts"))}
}

func (l *lab) add(o devicetest.Options) *devicetest.Device {
	l.t.Helper()
	return l.addTo(l.t, o)
}

func (l *lab) addTo(t testing.TB, o devicetest.Options) *devicetest.Device {
	t.Helper()
	d, err := devicetest.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	entry := inventory.Device{Name: o.Name, Address: "127.0.0.1", Port: d.Port(), Platform: o.Platform, Groups: []string{"core"}}
	l.list = append(l.list, entry)
	if err := l.keys.Pin(entry.Endpoint(), d.Key()); err != nil {
		t.Fatal(err)
	}
	return d
}

// fleet has a minute for each device, unless a test is about time.
func (l *lab) fleet(change ...func(*device.Config)) *device.Fleet {
	c := device.Config{
		Logins: []device.Login{{Name: "lab", User: devicetest.User, Password: devicetest.Password, Enable: devicetest.Enable, Devices: []string{"all"}}},
		Keys:   l.keys, Timeout: time.Minute,
	}
	for _, f := range change {
		f(&c)
	}
	return device.New(c)
}

func contains(t *testing.T, what, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%s: got %q, want %q in it", what, text, want)
	}
}
