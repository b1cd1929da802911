package langgraph

import "testing"

func TestFilter(t *testing.T) {
	one := 1
	for _, tt := range []struct {
		name   string
		filter Filter
		on     channel
		custom string
		ns     []string
		want   bool
	}{
		{"its channel", Filter{Channels: []string{"values"}}, onValues, "", nil, true},
		{"another channel", Filter{Channels: []string{"values"}}, onUpdates, "", nil, false},
		{"all custom events", Filter{Channels: []string{"custom"}}, onCustom, "tool_wait", nil, true},
		{"custom events of a name", Filter{Channels: []string{"custom:tool_wait"}}, onCustom, "tool_wait", nil, true},
		{"custom events of another name", Filter{Channels: []string{"custom:tool_wait"}}, onCustom, "tool_use", nil, false},
		{"below the root", Filter{Channels: []string{"values"}, Namespaces: [][]string{{}}}, onValues, "", []string{"tools:1", "agent:2"}, true},
		{"not so far below", Filter{Channels: []string{"values"}, Namespaces: [][]string{{}}, Depth: &one}, onValues, "", []string{"tools:1", "agent:2"}, false},
		{"as far below", Filter{Channels: []string{"values"}, Namespaces: [][]string{{"tools:1"}}, Depth: &one}, onValues, "", []string{"tools:1", "agent:2"}, true},
		{"a part without its id", Filter{Channels: []string{"values"}, Namespaces: [][]string{{"tools"}}}, onValues, "", []string{"tools:1"}, true},
		{"another id", Filter{Channels: []string{"values"}, Namespaces: [][]string{{"tools:2"}}}, onValues, "", []string{"tools:1"}, false},
		{"above", Filter{Channels: []string{"values"}, Namespaces: [][]string{{"tools:1"}}}, onValues, "", nil, false},
	} {
		if got := tt.filter.wants(tt.on, tt.custom, tt.ns); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestBadFilters(t *testing.T) {
	minus := -1
	for _, tt := range []struct {
		name   string
		filter Filter
		want   string
	}{
		{"no channel", Filter{}, "channels: must name from 1 to 64 channels"},
		{
			"an unknown one",
			Filter{Channels: []string{"values", "debug"}},
			`channels[1]: must be one of values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom, custom:{name}, got "debug"`,
		},
		{"many namespaces", Filter{Channels: []string{"values"}, Namespaces: make([][]string, 257)}, "namespaces: must not be more than 256"},
		{"a long one", Filter{Channels: []string{"values"}, Namespaces: [][]string{nil, make([]string, 33)}}, "namespaces[1]: must not have more than 32 parts"},
		{"depth", Filter{Channels: []string{"values"}, Depth: &minus}, "depth: must not be negative"},
	} {
		if err := tt.filter.check(); err == nil || failed(err).Message != tt.want || failed(err).Error != codeInvalid {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}
