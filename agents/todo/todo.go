// Package todo is the written plan of an agent: a list of items that it writes as a whole, each time
// anew, with the tool [Tool].
//
//	items, err := todo.Parse(args["todos"])
//
// What passes [Parse] is of bounded size, and of one line an item. All of it is pure and safe for
// concurrent use.
package todo

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Tool is the name of the tool, and Key that of the plan in a thread's state.
const (
	Tool = "write_todos"
	Key  = "todos"
)

// What a plan may hold.
const (
	MaxItems   = 50
	MaxContent = 300 // characters of an item
)

// Status is how an item stands.
type Status string

// The statuses of an item.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// Item is one step of a plan.
type Item struct {
	Content string `json:"content"`
	Status  Status `json:"status"`
}

// Parameters is the JSON Schema of the tool's arguments.
var Parameters = json.RawMessage(fmt.Sprintf(`{
	"type": "object",
	"properties": {
		"todos": {
			"type": "array",
			"description": "the whole plan, in order; it takes the place of the one before",
			"maxItems": %d,
			"items": {
				"type": "object",
				"properties": {
					"content": {"type": "string", "minLength": 1, "maxLength": %d, "description": "what is to be done, in one line"},
					"status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}
				},
				"required": ["content", "status"],
				"additionalProperties": false
			}
		}
	},
	"required": ["todos"],
	"additionalProperties": false
}`, MaxItems, MaxContent))

// Parse takes a plan from decoded JSON of the form that Parameters describes. The error says which item
// has what wrong.
func Parse(v any) ([]Item, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("todos: want a list")
	}
	if len(list) > MaxItems {
		return nil, fmt.Errorf("todos: %d items, of %d at most: join some", len(list), MaxItems)
	}
	items := make([]Item, len(list))
	for i, e := range list {
		fields, ok := e.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("todos[%d]: want an object with content and status", i)
		}
		content, _ := fields["content"].(string)
		status, _ := fields["status"].(string)
		items[i] = Item{strings.TrimSpace(content), Status(status)}
		switch {
		case items[i].Content == "":
			return nil, fmt.Errorf("todos[%d].content: it is empty: say what is to be done", i)
		case len([]rune(content)) > MaxContent:
			return nil, fmt.Errorf("todos[%d].content: it is longer than %d characters: shorten it", i, MaxContent)
		case strings.ContainsFunc(items[i].Content, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
			return nil, fmt.Errorf("todos[%d].content: it has a line break or a control character: write one line", i)
		case items[i].Status != Pending && items[i].Status != InProgress && items[i].Status != Completed:
			return nil, fmt.Errorf("todos[%d].status: %q is none of pending, in_progress and completed", i, status)
		}
	}
	return items, nil
}

// Count says in a sentence how a plan stands.
func Count(items []Item) string {
	n := map[Status]int{}
	for _, i := range items {
		n[i.Status]++
	}
	return fmt.Sprintf("The plan has %d items: %d completed, %d in progress, %d pending.", len(items), n[Completed], n[InProgress], n[Pending])
}

// marks are what stands before an item in Text.
var marks = map[Status]string{Pending: "[ ]", InProgress: "[>]", Completed: "[x]"}

// Text is the plan for people and models, an item a line.
func Text(items []Item) string {
	var b strings.Builder
	for _, i := range items {
		b.WriteString(marks[i.Status] + " " + i.Content + "\n")
	}
	return b.String()
}
