// Package device reads what stands in a line for a network device beside its first words: filters of its
// output, menus, words and characters with which a command does more than to show something.
//
//	device.Filters("include", []string{"ntp"})          // true
//	device.PrintsMenu("interface", []string{"print"})   // true
//	device.MoreThanReads("show", []string{"version"})   // ""
//
// Words are literal: what is only known at run time is for the caller to refuse. The functions are pure,
// safe for concurrent use, and take time that grows with the length of the line and no faster.
package device
