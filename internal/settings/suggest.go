package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/suggest"
)

func sections() []string {
	var all []string
	for _, o := range options {
		section, _, _ := strings.Cut(o.name, ".")
		if !slices.Contains(all, section) {
			all = append(all, section)
		}
	}
	return all
}

// keys lists the keys of a section without its name.
func keys(section string) []string {
	var all []string
	for _, o := range options {
		if s, k, _ := strings.Cut(o.name, "."); s == section {
			all = append(all, k)
		}
	}
	return all
}

// Unknown returns the error for a name that is no setting, with the nearest one that is.
func Unknown(key string) error {
	section, name, _ := strings.Cut(key, ".")
	if known := keys(section); len(known) > 0 && name != "" && !slices.Contains(known, name) {
		if n := suggest.Nearest(name, known); n != "" {
			return fmt.Errorf("%s is not a setting; did you mean %s.%s?", key, section, n)
		}
		return fmt.Errorf("%s is not a setting; %s has %s", key, section, strings.Join(known, ", "))
	}
	known := sections()
	for _, l := range lists {
		known = append(known, l.Key())
	}
	return unknown(key, known)
}

// unknown returns the error for a word at the top of a document, where the known ones may be.
func unknown(word string, known []string) error {
	if section, name, _ := strings.Cut(word, "."); slices.Contains(keys(section), name) {
		return fmt.Errorf("%s is not a section: write %s in the section %s", word, name, section)
	}
	all := slices.Clone(known)
	for _, o := range options {
		all = append(all, o.name)
	}
	if n := suggest.Nearest(word, all); n != "" {
		return fmt.Errorf("%s is not a setting; did you mean %s?", word, n)
	}
	return fmt.Errorf("%s is not a setting; there are %s", word, strings.Join(known, ", "))
}

// IsSection reports whether name is a section, such as auth.
func IsSection(name string) bool { return slices.Contains(sections(), name) }

// misspelt is how many letters a name may differ in from a setting's to count as a misspelt one.
const misspelt = 2

// StrayEnv lists the variables of environ (NAME=value) that look like settings and are none,
// each with the nearest name that is: those that begin with the name of a section, and those
// that are all but a setting's name. Other software may own such names, so it is a warning.
func StrayEnv(environ []string) []string {
	known := make([]string, len(options))
	for i, o := range options {
		known[i] = variableOf(o.name)
	}
	var stray []string
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		if looksLikeSetting(name, known) && !slices.Contains(known, name) {
			stray = append(stray, name+" is not a setting"+suggest.DidYouMean(name, known))
		}
	}
	slices.Sort(stray)
	return stray
}

func looksLikeSetting(name string, known []string) bool {
	for _, s := range sections() {
		if strings.HasPrefix(name, "SVC_"+strings.ToUpper(s)+"_") {
			return true
		}
	}
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(known, func(k string) bool { return suggest.Distance(upper, k) <= misspelt })
}
