// Package device knows the lines of device configurations in which a secret stands: Cisco IOS, NX-OS and ASA,
// Arista EOS, Junos, Huawei VRP, FortiOS, PAN-OS and others.
//
//	for _, l := range device.Lines {
//		if l.Begins(before) { … } // the text ends with the keyword of the line
//	}
//
// It says which lines they are and what may stand between the keyword and the secret; package redact finds the
// secret. A line is added in one place, with an example and a counter-example, which the tests of package
// redact hold. Everything is safe for concurrent use; nobody changes the tables.
package device
