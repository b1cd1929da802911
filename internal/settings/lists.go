package settings

import (
	"fmt"
	"slices"
	"strings"
)

// Lists are the lists of objects of the settings by their keys: a []T for each list that has
// objects of the type T. A method of [Settings] for each gives it with its type.
type Lists map[string]any

// List is a list of objects among the settings as a Caddyfile has it: a block for each object.
type List interface {
	// Key is the name of the list in JSON.
	Key() string
	// Block is the first word of an object's block; the object's name is the second.
	Block() string
	// CheckName refuses what cannot be the name of an object.
	CheckName(name string) error
	// ParseField checks the words of a field and returns it in the form it has in JSON.
	ParseField(name string, words []string) (any, error)
	// CheckObject looks at what concerns more than one field of an object, whose values are those of
	// ParseField and its name. One with placeholders passes: what it will be is not known.
	CheckObject(values map[string]any) error
}

// objectList is an [objects] of any type.
type objectList interface {
	List
	read(*reader) (any, error)
	show(Settings) string
	checkAll(Settings) error
	checkEnvironment(Settings, func(string) (string, bool)) error
	secrets(Settings, func(string) (string, bool)) []string
	isReference(name string) bool
}

// lists are filled while the package is initialised, by the files that declare them, and not
// changed after that. They are in the order of their keys.
var lists []objectList

// register makes a list of objects known. Its result belongs in a variable of the package.
func register[T any](o *objects[T]) *objects[T] {
	lists = append(lists, o)
	slices.SortFunc(lists, func(a, b objectList) int { return strings.Compare(a.Key(), b.Key()) })
	return o
}

func lookupList(key string) (objectList, bool) {
	i := slices.IndexFunc(lists, func(l objectList) bool { return l.Key() == key })
	if i < 0 {
		return nil, false
	}
	return lists[i], true
}

// ListOf returns the list that a block of a Caddyfile is an object of.
func ListOf(block string) (List, bool) {
	i := slices.IndexFunc(lists, func(l objectList) bool { return l.Block() == block })
	if i < 0 {
		return nil, false
	}
	return lists[i], true
}

// UnknownBlock returns the error for a word that begins no block in a Caddyfile, with the
// nearest one that does.
func UnknownBlock(word string) error {
	if l, ok := lookupList(word); ok {
		return fmt.Errorf("%s is a list: write a block %s <name> { … } for each of it", word, l.Block())
	}
	known := sections()
	for _, l := range lists {
		known = append(known, l.Block())
	}
	return unknown(word, known)
}
