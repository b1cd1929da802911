// Package device runs commands on network devices over SSH, and changes their configuration.
//
//	fleet := device.New(device.Config{Logins: logins, Keys: device.OpenKeys(path)})
//	outcomes := fleet.Command(ctx, devices, "show version", nil)
//	plan, err := fleet.Plan(ctx, d, lines)
//	done, err := fleet.Apply(ctx, d, lines, plan.Diff)
//
// Which devices there are, with their addresses and platforms, says package inventory. [CommandTool] and
// [ConfigTool] are the tools for agents.
//
// # Guarantees
//
// Nothing is told to a device, no user name and no password, before its host key is found to be the one
// that a person has pinned; see [Keys]. Devices are untrusted: what each sends is read within limits of
// time and size, whatever it sends or does not send, and is made plain text. A device that asks something
// is answered with what the caller gave, and with nothing else. Each device has an outcome of its own: one
// that fails, hangs or floods takes nothing from the others but its share of the text.
//
// A change is applied when it is the one that was shown, by the difference that it makes, and is compared
// with what the device says its configuration is afterwards. One that comes out otherwise is taken back;
// where that cannot be done the error says so, and what is left.
//
// # Concurrency
//
// A [Fleet] is safe for concurrent use. It keeps no connection.
package device
