package command

// deviceCommands are the commands of network devices: Cisco IOS, IOS XR, NX-OS and ASA, Junos,
// EOS, VRP, Comware, FortiOS, PAN-OS, RouterOS, VyOS and SR OS. Of several that match the one
// with the most words counts. Single words that are programs of a host as well are not here.
var deviceCommands = []struct {
	lines    string // separated by commas
	class    Class
	category string
	reason   string
}{
	{`reload, reboot, admin reload, admin reboot, request system reboot, request vmhost reboot, request restart, execute reboot, system reboot, system reset,
		redundancy force-switchover, redundancy reload, request chassis, boot system, boot-start, schedule reboot, system switchover,
		request system software, request vmhost software, hw-module, install activate, install all, reset system, stack reload, issu,
		system cold-restart, fast-reboot, warm-reboot, request high-availability`, Dangerous, Reload, "it restarts the device"},
	{`reload cancel, schedule reboot cancel`, Mutate, "", "it keeps the device from restarting"},
	{`request system halt, request system power-off, request vmhost halt, request vmhost power-off, request shutdown, execute shutdown, system shutdown,
		poweroff module, power off`, Dangerous, Shutdown, "it takes the device down"},
	{`shutdown, out-of-service, switchdisable, portdisable, deactivate, interface disable, disable port, disable ports, failover active`, Dangerous, Shutdown, "it takes an interface or service down"},
	{`request system zeroize, request vmhost zeroize, request system storage, request system private-data-reset, execute factoryreset, execute factoryreset2,
		execute restore, execute log, write erase, license erase, switchport trunk allowed vlan none, erase, squeeze, delete, crypto key zeroize, configure replace, default interface, reset saved-configuration,
		reset factory-configuration, restore factory-default, restore default, factory-reset, unconfigure, purge, clear configure, clear config, clear configuration,
		rollback, load override, load factory-default, load replace, commit replace, license clear, system reset-configuration, reset recycle-bin,
		archive download-sw, undo startup, config clear, vlan database delete, copy null: startup-config, zerotouch, cfgclear, cfgdisable, load sys config default`, Dangerous, Erase, "it erases data or configuration"},
	{`format, execute formatlogdisk, execute erase-disk, system format, fdisk partition`, Dangerous, Formatting, "it formats a disk"},
	{`process restart, kill process, restart routing, restart chassis-control, restart interface-control, restart bgp, restart ospf, restart class-of-service, system restart, debug all,
		clear ip bgp, clear bgp, clear ip ospf, clear ospf, clear isis, clear crypto, clear ip eigrp, clear eigrp, clear ip route, clear mpls ldp, clear line, clear ipsec, clear vpn, clear ldp, clear rsvp,
		reset bgp, reset ospf, reset isis, reset ike, reset ipsec, diagnose sys kill, diagnose sys process kill, diagnose sys top-kill, test crash, test platform, process crash, execute ha,
		execute disconnect-admin-session, execute router clear`, Dangerous, CriticalProcess, "it ends or restarts processes or sessions"},
	{`no router, no vlan, no interface, no feature, no bgp, no ospf, no mpls, no spanning-tree, no ip routing, no ipv6 unicast-routing, no ip route, no aaa, no username, no crypto, no neighbor,
		no access-list, no ip access-list, no vrf, no ip vrf, no switchport, no ip address, no boot, no failover, no tacacs-server, no radius-server, no vtp, no line, no route-map, no policy-map, no standby, no vpc,
		no enable, undo bgp, undo ospf, undo isis, undo vlan, undo interface, undo mpls, undo stp, undo ip, undo acl, undo aaa, undo local-user, undo vrrp, undo peer, undo port, undo rip, undo vpn-instance,
		undo undo-all, nv unset, net del`, Dangerous, Erase, "it removes configuration"},
	{`no shutdown, undo shutdown, no debug, undebug, undo debugging, undo info-center, no, undo`, Mutate, "", "it changes the configuration"},
	{`show, display, dir, verify, terminal, monitor interface, monitor traffic, commit check, commit validate, write terminal, get system, get router, get hardware, get firewall, get vpn, get log, get switch, request support information, diagnose hardware deviceinfo, diagnose hardware sysinfo, diagnose hardware certificate, diagnose hardware lspci, diagnose debug info, diagnose lldprx neighbor, diagnose lldprx port, diagnose sys session list,
		diagnose netlink interface list, diagnose ip address list, diagnose ip arp list, diagnose vpn tunnel list, diagnose sys ha status, admin show, fabric show, debug swm status, port show, fw stat, fw ver, fw tab, cphaprob stat, cphaprob state,
		oam mac-ping, execute ping, execute traceroute, execute time, execute date, exec ping, exec traceroute`, ReadOnly, "", ""},
	{`configure, commit, write, interface, snmp-server, ntp, banner, clear, copy, router, hostname, vlan, line, ipv6, description, remark, logging, aaa, username, end, enable, system-view,
		neighbor, network, switchport, spanning-tree, route-map, policy-map, class-map, access-list, access-group, save, boot, license, config, load, crypto, vrf, archive,
		set interfaces, set system, set protocols, set routing-options, set firewall, set policy-options, set vlans, set security, set groups, set chassis, set snmp, set class-of-service,
		set routing-instances, set network, set deviceconfig, set address, set rulebase, set zone, set shared, set status, set ip, set allowaccess, set vdom, set alias, set service, set nat, channel-group,
		tacacs-server, radius-server, feature, mpls, stp, acl, debugging, debug`, Mutate, "", "it changes the configuration"},
	{`request, execute, diagnose`, Unknown, "", "the command is not known"},
}
