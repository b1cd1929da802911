package ldap

import (
	"strings"

	"github.com/svc-gateway/svc/internal/settings"
)

// CheckSetting looks at the words of a setting of the section ldap as [New] does, for who knows in
// which line they stand. Words with placeholders pass, and those of other settings.
func CheckSetting(name string, words []string) error {
	for _, word := range words {
		if err := checkWord(name, word); err != nil {
			return err
		}
	}
	return nil
}

func checkWord(name, word string) (err error) {
	if name == "filter" || name == "user_template" {
		if err := settings.CheckPattern(word); err != nil {
			return err
		}
	}
	if word == "" || strings.Contains(word, "{") {
		return nil
	}
	switch name {
	case "base_dn", "group_base_dn":
		_, err = parseDN(word)
	case "filter", "group_filter":
		err = filter(word).check()
	case "user_template":
		_, err = parseTemplate(word)
	case "admin_groups", "user_groups", "readonly_groups":
		if strings.Contains(word, "=") {
			_, err = parseDN(word)
		}
	}
	return err
}
