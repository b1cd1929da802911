package syslog

import (
	"strconv"
	"strings"
	"time"
)

// stamp is a time as the head of a message says it.
type stamp struct {
	at      time.Time // zero: how long the device runs is all that it says
	running string    // such as 2d03h and 00:00:12
	plain   bool      // nothing says its zone
}

// cutStamp cuts a time off: that of RFC 3164, with a fraction of a second and the year in front of the month,
// behind the day or behind the time, that of RFC 3339, also without a zone, the seconds since 1970 with a
// fraction, and how long a device runs. What does not say its zone is of this machine's, and what does not say
// its year is of the one that brings it close to the time that the message came.
func cutStamp(s string, came time.Time) (found stamp, rest string, ok bool) {
	switch {
	case s == "":
		return stamp{}, s, false
	case s[0] >= 'A' && s[0] <= 'S':
		return cutMonth(s, 0, came)
	case !isDigit(s[0]):
		return stamp{}, s, false
	}
	if year, rest, ok := cutYear(s); ok && strings.HasPrefix(rest, " ") {
		return cutMonth(strings.TrimLeft(rest, " "), year, came)
	}
	for _, cut := range []func(string) (stamp, string, bool){cutDate, cutSeconds, cutRunning} {
		if found, rest, ok = cut(s); ok {
			return found, rest, true
		}
	}
	return stamp{}, s, false
}

// cutMonth cuts off a time that begins with a month: Mar  1 00:00:12.345.
func cutMonth(s string, year int, came time.Time) (found stamp, rest string, ok bool) {
	if len(s) < len("Mar 1 00:00:12") || s[3] != ' ' {
		return stamp{}, s, false
	}
	month := strings.Index("JanFebMarAprMayJunJulAugSepOctNovDec", s[:3])
	if month%3 != 0 {
		return stamp{}, s, false
	}
	day, rest, ok := cutNumber(strings.TrimLeft(s[4:], " "), 1, 2)
	if !ok || day < 1 || day > 31 || !strings.HasPrefix(rest, " ") {
		return stamp{}, s, false
	}
	rest = rest[1:]
	if y, behind, ok := cutYear(rest); ok && year == 0 && strings.HasPrefix(behind, " ") {
		year, rest = y, behind[1:]
	}
	clock, rest, ok := cutClock(rest)
	if !ok {
		return stamp{}, s, false
	}
	if strings.HasPrefix(rest, " ") && year == 0 {
		if y, behind, ok := cutYear(rest[1:]); ok && (behind == "" || behind[0] == ' ' || strings.HasPrefix(behind, ": ")) {
			year, rest = y, behind
		}
	}
	in := func(year int) time.Time {
		return time.Date(year, time.Month(month/3+1), day, 0, 0, 0, clock, time.Local)
	}
	if year != 0 {
		return stamp{at: in(year), plain: true}, rest, true
	}
	year = came.Local().Year()
	at := in(year)
	switch apart := at.Sub(came); { // that of December comes in January, and clocks that are ahead send that of January in December
	case apart > 24*time.Hour:
		at = in(year - 1)
	case apart < -364*24*time.Hour:
		at = in(year + 1)
	}
	return stamp{at: at, plain: true}, rest, true
}

// cutDate cuts off a time of RFC 3339, also one without a zone.
func cutDate(s string) (found stamp, rest string, ok bool) {
	const date = "2006-01-02T"
	if len(s) < len(date) || s[4] != '-' || s[len(date)-1] != 'T' {
		return stamp{}, s, false
	}
	day, err := time.ParseInLocation(date, s[:len(date)], time.Local)
	if err != nil {
		return stamp{}, s, false
	}
	clock, rest, ok := cutClock(s[len(date):])
	if !ok {
		return stamp{}, s, false
	}
	found = stamp{at: time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, clock, time.Local), plain: true}
	if behind, ok := strings.CutPrefix(rest, "Z"); ok {
		return found.in(0), behind, true
	}
	if offset, behind, ok := cutOffset(rest); ok {
		return found.in(offset), behind, true
	}
	return found, rest, true
}

// cutSeconds cuts off the seconds since 1970 with a fraction.
func cutSeconds(s string) (found stamp, rest string, ok bool) {
	seconds, behind, ok := strings.Cut(s, ".")
	if !ok || len(seconds) != len("1380653443") {
		return stamp{}, s, false
	}
	fraction, _, _ := strings.Cut(behind, " ")
	if len(fraction) == 0 || len(fraction) > 9 {
		return stamp{}, s, false
	}
	since, err := strconv.ParseInt(seconds+(fraction + "00000000")[:9], 10, 64)
	if err != nil {
		return stamp{}, s, false
	}
	return stamp{at: time.Unix(0, since)}, behind[len(fraction):], true
}

// cutRunning cuts off how long a device runs: 00:00:12, 2d03h and 1y2w.
func cutRunning(s string) (found stamp, rest string, ok bool) {
	word, _, _ := strings.Cut(s, " ")
	word = strings.TrimSuffix(word, ":")
	if len(word) < len("1d2h") || len(word) > len("1000w6d:00:00") || !strings.ContainsAny(word, ":dwy") || strings.Trim(word, "0123456789:.ywdh") != "" {
		return stamp{}, s, false
	}
	return stamp{running: word}, s[len(word):], true
}

// cutYear cuts off a year of four digits.
func cutYear(s string) (year int, rest string, ok bool) {
	year, rest, ok = cutNumber(s, 4, 4)
	return year, rest, ok && year >= 1970 && year < 2200
}

// cutClock cuts off 00:00:12.345, as nanoseconds since midnight.
func cutClock(s string) (clock int, rest string, ok bool) {
	rest = s
	for i, part := range []struct {
		unit time.Duration
		most int
	}{{time.Hour, 23}, {time.Minute, 59}, {time.Second, 60}} {
		if i > 0 {
			if rest, ok = strings.CutPrefix(rest, ":"); !ok {
				return 0, s, false
			}
		}
		var n int
		if n, rest, ok = cutNumber(rest, 2, 2); !ok || n > part.most {
			return 0, s, false
		}
		clock += n * int(part.unit)
	}
	if len(rest) < 2 || rest[0] != '.' && rest[0] != ',' || !isDigit(rest[1]) {
		return clock, rest, true
	}
	rest = rest[1:]
	for unit := int(time.Second / 10); rest != "" && isDigit(rest[0]); unit /= 10 {
		clock += int(rest[0]-'0') * unit
		rest = rest[1:]
	}
	return clock, rest, true
}

// cutZone cuts off the zone of a time, which a space or nothing separates from it. Names that no table has are zones
// as well where the colon behind them is that of a device.
func (t stamp) cutZone(s string) (found stamp, rest string) {
	if offset, rest, ok := cutOffset(strings.TrimLeft(s, " ")); ok {
		return t.in(offset), rest
	}
	if !strings.HasPrefix(s, " ") {
		return t, s
	}
	end := 1
	for end < len(s) && s[end] >= 'A' && s[end] <= 'Z' {
		end++
	}
	name, rest := s[1:end], s[end:]
	if len(name) < 2 && name != "Z" || len(name) > 5 || rest != "" && rest[0] != ' ' && rest[0] != ':' {
		return t, s
	}
	if own, _ := t.at.Zone(); own == name {
		return t, rest
	}
	if offset, ok := zones[name]; ok {
		return t.in(offset), rest
	}
	if behind, ok := strings.CutPrefix(rest, ":"); ok && strings.HasPrefix(strings.TrimLeft(behind, " "), "%") {
		return t, rest
	}
	return t, s
}

// zones are the offsets of the zones' names that have one meaning, in seconds.
var zones = map[string]int{
	"UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 3600, "CET": 3600, "CEST": 2 * 3600, "MEZ": 3600, "MESZ": 2 * 3600, "EET": 2 * 3600, "EEST": 3 * 3600, "MSK": 3 * 3600,
	"EST": -5 * 3600, "EDT": -4 * 3600, "CDT": -5 * 3600, "MST": -7 * 3600, "MDT": -6 * 3600, "PST": -8 * 3600, "PDT": -7 * 3600, "AKST": -9 * 3600, "AKDT": -8 * 3600,
	"HST": -10 * 3600, "BRT": -3 * 3600, "SAST": 2 * 3600, "HKT": 8 * 3600, "SGT": 8 * 3600, "JST": 9 * 3600, "KST": 9 * 3600, "AEST": 10 * 3600, "AEDT": 11 * 3600,
	"NZST": 12 * 3600, "NZDT": 13 * 3600,
}

// in is the time if its zone is so many seconds east of UTC.
func (t stamp) in(offset int) stamp {
	if !t.plain || t.at.IsZero() {
		return t
	}
	at := t.at
	at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.FixedZone("", offset))
	return stamp{at: at}
}

// cutOffset cuts off the offset of a zone: +01:00, +0100 and -05.
func cutOffset(s string) (seconds int, rest string, ok bool) {
	if s == "" || s[0] != '+' && s[0] != '-' {
		return 0, s, false
	}
	number, rest, ok := cutNumber(s[1:], 2, 4)
	hours, minutes := number/100, number%100
	if ok && len(s)-len(rest) == len("+01") {
		hours = number
		if n, behind, ok := cutNumber(strings.TrimPrefix(rest, ":"), 2, 2); ok {
			minutes, rest = n, behind
		}
	}
	if !ok || hours > 14 {
		return 0, s, false
	}
	if rest != "" && rest[0] != ' ' && rest[0] != ':' {
		return 0, s, false
	}
	seconds = hours*3600 + minutes*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, rest, true
}

// cutNumber cuts off a number of some digits, which has no more.
func cutNumber(s string, least, most int) (n int, rest string, ok bool) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end < least || end > most {
		return 0, s, false
	}
	n, err := strconv.Atoi(s[:end])
	return n, s[end:], err == nil
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
