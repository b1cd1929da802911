package form

import (
	"strings"
	"unicode"
)

// Prompt returns where the prompt of a device ends at which a line begins, with the white space behind
// it; 0 where there is none. Prompts are
//
//	user@router-1.lab(config-if)#   router> [switch] [*switch-ospf] <switch>
func Prompt(line string) int {
	if line == "" {
		return 0
	}
	var end int
	switch line[0] {
	case '<':
		if end = nameEnd(line, 1, ".-"); end == 1 || end == len(line) || line[end] != '>' {
			return 0
		}
	case '[':
		begin := 1
		if len(line) > 1 && (line[1] == '~' || line[1] == '*') {
			begin = 2
		}
		if end = nameEnd(line, begin, "./-"); end == begin || end == len(line) || line[end] != ']' {
			return 0
		}
	default:
		begin := 0
		if at := runEnd(line, 0, ".-"); at > 0 && at < len(line) && line[at] == '@' {
			begin = at + 1
		}
		end = nameEnd(line, begin, ".:-")
		if end == begin {
			return 0
		}
		if end < len(line) && line[end] == '(' {
			mode := runEnd(line, end+1, ".-")
			if mode == end+1 || mode == len(line) || line[mode] != ')' {
				return 0
			}
			end = mode + 1
		}
		if end == len(line) || line[end] != '#' && line[end] != '>' {
			return 0
		}
	}
	for end++; end < len(line) && strings.IndexByte(" \t\n\f\r", line[end]) >= 0; end++ {
	}
	return end
}

// nameEnd returns where a name ends that begins with a letter, or where it would have begun.
func nameEnd(line string, from int, marks string) int {
	if from >= len(line) || line[from]|0x20 < 'a' || line[from]|0x20 > 'z' {
		return from
	}
	return runEnd(line, from, marks)
}

// runEnd returns where letters, digits, underscores and the marks end.
func runEnd(line string, from int, marks string) int {
	for from < len(line) {
		c := line[from]
		if letter := c|0x20 >= 'a' && c|0x20 <= 'z'; !letter && (c < '0' || c > '9') && c != '_' && strings.IndexByte(marks, c) < 0 {
			break
		}
		from++
	}
	return from
}

// FirstWord returns the first word of a line, and what follows it.
func FirstWord(line string) (word, rest string) {
	line = strings.TrimSpace(line)
	if end := strings.IndexFunc(line, unicode.IsSpace); end >= 0 {
		return line[:end], line[end:]
	}
	return line, ""
}
