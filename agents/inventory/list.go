package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/suggest"
)

// List is an inventory: its devices, sorted by name.
type List []Device

// ErrNotFound is in the chain of the error for a name or a group that the inventory does not have.
var ErrNotFound = errors.New("it is not in the inventory")

// All is the group of all devices.
const All = "all"

// Device returns the device of that name, whatever its case.
func (l List) Device(name string) (Device, error) {
	for _, d := range l {
		if strings.EqualFold(d.Name, name) {
			return d, nil
		}
	}
	names := make([]string, len(l))
	for i, d := range l {
		names[i] = d.Name
	}
	hint := "list them with SELECT name FROM inventory"
	if n := suggest.Nearest(name, names); n != "" {
		hint = "did you mean " + n + "?"
	}
	return Device{}, fmt.Errorf("there is no device %q: %w; %s", clip(name), ErrNotFound, hint)
}

// Group returns the devices of a group: those with its name among their groups, those of a site, a role or
// a platform with site:, role: or platform: before it, or all.
func (l List) Group(group string) (List, error) {
	kind, value, special := strings.Cut(group, ":")
	var found List
	for _, d := range l {
		var in bool
		switch {
		case special && kind == "site":
			in = strings.EqualFold(d.Site, value)
		case special && kind == "role":
			in = strings.EqualFold(d.Role, value)
		case special && kind == "platform":
			in = d.Platform == Platform(value)
		default:
			in = strings.EqualFold(group, All) || slices.Contains(d.Groups, strings.ToLower(group))
		}
		if in {
			found = append(found, d)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	hint := "the groups are " + strings.Join(l.groups(), ", ")
	if len(l.groups()) == 0 {
		hint = "no device is in a group; site:NAME, role:NAME, platform:NAME and all are groups, too"
	}
	return nil, fmt.Errorf("there is no group %q: %w; %s", clip(group), ErrNotFound, hint)
}

// groups are the names of the first groups.
func (l List) groups() (all []string) {
	for _, d := range l {
		all = append(all, d.Groups...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), 20)]
}

// Find returns the devices of those names and of that group, each once, sorted. Names and group may be
// empty, not both.
func (l List) Find(names []string, group string) (List, error) {
	var found List
	var errs []error
	if len(names) == 0 && group == "" {
		return nil, errors.New("no device is named, and no group")
	}
	for _, name := range names {
		d, err := l.Device(name)
		found, errs = append(found, d), append(errs, err)
	}
	if group != "" {
		all, err := l.Group(group)
		found, errs = append(found, all...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return sorted(found), nil
}

// sorted sorts devices by name and leaves each once.
func sorted(l List) List {
	slices.SortFunc(l, func(a, b Device) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return slices.CompactFunc(l, func(a, b Device) bool { return strings.EqualFold(a.Name, b.Name) })
}
