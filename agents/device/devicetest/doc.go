// Package devicetest has SSH servers that behave like network devices, for tests: one like Cisco's IOS and
// one like Juniper's Junos, with pagers, modes, configurations that change, and faults.
//
//	d, err := devicetest.Open(devicetest.Options{Platform: "ios", Name: "edge1"})
//	defer d.Close()
//	d.Address()    // host:port
//	d.Commands()   // what was typed so far
//
// They know a few commands and answer the others as the devices do. A Device is safe for concurrent use.
package devicetest
