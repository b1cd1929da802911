package inventory

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Device is one device of the inventory, a row of the table. Its fields are the columns.
type Device struct {
	Name     string   `json:"name"`     // what people and agents call it; unique, whatever its case
	Address  string   `json:"address"`  // an IP address or the name of a host; empty: it cannot be reached
	Port     int      `json:"port"`     // of SSH
	Platform string   `json:"platform"` // one of Platforms, or what the file says when it is none of them
	Site     string   `json:"site"`
	Role     string   `json:"role"`
	Status   string   `json:"status"`
	Model    string   `json:"model"`
	Serial   string   `json:"serial"`
	Groups   []string `json:"groups"` // sorted, each once, in lower case
}

// fields are the names of the fields, in the order of the columns.
var fields = []string{"name", "address", "port", "platform", "site", "role", "status", "model", "serial", "groups"}

const defaultPort = 22

// Endpoint is where SSH answers, host:port.
func (d Device) Endpoint() string {
	if strings.Contains(d.Address, ":") {
		return "[" + d.Address + "]:" + strconv.Itoa(d.Port)
	}
	return d.Address + ":" + strconv.Itoa(d.Port)
}

var (
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$`)
	groupForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	hostForm  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)
	textForm  = regexp.MustCompile(`^[\pL\pN][\pL\pN ._:/+()#&-]*$`)
)

const (
	maxText   = 100 // characters of a site, a role, …; as a repetition in textForm they would take 4 MB
	maxGroups = 64
)

// set sets a field to a value as a file has it. The error says what to write.
func (d *Device) set(field, v string) error {
	v = strings.TrimSpace(v)
	var err error
	switch field {
	case "name":
		if d.Name = v; !nameForm.MatchString(v) {
			return fmt.Errorf("%q is no name of a device: use up to 64 letters, digits and . _ : / -", clip(v))
		}
	case "address":
		d.Address, err = address(v)
	case "port":
		if d.Port, err = strconv.Atoi(v); err != nil || d.Port < 1 || d.Port > 65535 {
			return fmt.Errorf("%q is no port: write a number from 1 to 65535", clip(v))
		}
	case "platform":
		d.Platform = Platform(v)
		err = text(v)
	case "site":
		d.Site, err = v, text(v)
	case "role":
		d.Role, err = v, text(v)
	case "status":
		d.Status, err = strings.ToLower(v), text(v)
	case "model":
		d.Model, err = v, text(v)
	case "serial":
		d.Serial, err = v, text(v)
	case "groups":
		d.Groups = nil
		for _, g := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ';' }) {
			if err := d.join(g); err != nil {
				return err
			}
		}
	}
	return err
}

// join puts the device into a group.
func (d *Device) join(group string) error {
	g := strings.Join(strings.Fields(strings.ToLower(group)), "-")
	switch {
	case g == "":
		return nil
	case !groupForm.MatchString(g):
		return fmt.Errorf("%q is no name of a group: use up to 64 letters, digits and . _ -", clip(group))
	case slices.Contains(d.Groups, g):
		return nil
	case len(d.Groups) == maxGroups:
		return fmt.Errorf("there are more than %d groups", maxGroups)
	}
	d.Groups = append(d.Groups, g)
	slices.Sort(d.Groups)
	return nil
}

// address is an IP address, without the length of its network, or the name of a host.
func address(v string) (string, error) {
	if v == "" {
		return "", nil
	}
	if p, err := netip.ParsePrefix(v); err == nil {
		return p.Addr().String(), nil
	}
	if a, err := netip.ParseAddr(v); err == nil && a.Zone() == "" {
		return a.String(), nil
	}
	if len(v) > 253 || !hostForm.MatchString(v) || strings.Trim(v, "0123456789.") == "" {
		return "", fmt.Errorf("%q is neither an IP address nor the name of a host", clip(v))
	}
	return strings.ToLower(v), nil
}

func text(v string) error {
	if v != "" && (utf8.RuneCountInString(v) > maxText || !textForm.MatchString(v)) {
		return fmt.Errorf("%q is not understood: use up to 100 letters, digits, spaces and . _ : / + ( ) # & -", clip(v))
	}
	return nil
}

// clip keeps a value in a message short.
func clip(v string) string {
	if len(v) > 60 {
		return strings.ToValidUTF8(v[:60], "") + "…"
	}
	return v
}
