package reach

import (
	"errors"
	"net/url"
)

// CheckEndpoint refuses what is no address of a server that the operator has chosen: what [ParseURL] refuses,
// a query, a fragment, and where a key is sent, http to anything but this host. It never repeats the
// address, which may have a password in it.
func CheckEndpoint(text string, key bool) error {
	u, err := ParseURL(text)
	if err != nil {
		return err
	}
	raw, err := url.Parse(text)
	switch {
	case err != nil || raw.RawQuery != "" || raw.Fragment != "":
		return errors.New("the URL has a query or a fragment; leave it out")
	case key && u.Scheme == "http" && !Loopback(u.Hostname()):
		return errors.New("the key would go over the network in clear: use https; plain http with a key is for servers on this host")
	}
	return nil
}
