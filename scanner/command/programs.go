package command

import "strings"

// programs are the commands that are known. A command that is not here is Unknown.
var programs = func() map[string]program {
	table := map[string]program{
		// Readers that can do more.
		"uniq": {judge: judgeUniq},

		"ifconfig": {judge: judgeIfconfig},
		"sysctl":   {judge: judgeSysctl}, "find": {judge: judgeFind}, "ip": {judge: judgeIP}, "sed": {judge: judgeSed},
		"env": {class: Unknown}, "printenv": {class: Unknown},

		// Files.
		"touch": {class: Mutate, writes: true}, "mkdir": {class: Mutate, writes: true}, "rmdir": {class: Mutate, writes: true},
		"cp": {class: Mutate, judge: judgeCopy("cp")}, "install": {class: Mutate, judge: judgeCopy("install")}, "ln": {class: Mutate, judge: judgeCopy("ln")},
		"scp": {class: Mutate, judge: judgeCopy("scp")}, "rsync": {judge: judgeRsync},
		"mv": {class: Mutate, writes: true}, "tee": {class: Mutate, writes: true}, "truncate": {class: Mutate, writes: true},
		"unlink": {class: Mutate, writes: true}, "patch": {class: Mutate, writes: true}, "split": {class: Mutate, writes: true},
		"chmod": {judge: judgeOwner("chmod")}, "chown": {judge: judgeOwner("chown")}, "chgrp": {judge: judgeOwner("chgrp")},
		"gzip": {class: Mutate, writes: true}, "gunzip": {class: Mutate, writes: true}, "bzip2": {class: Mutate, writes: true}, "xz": {class: Mutate, writes: true},
		"rm": {judge: judgeRm}, "tar": {judge: judgeTar}, "unzip": {judge: judgeTarget("unzip", "d")}, "zip": {class: Mutate, writes: true},
		"curl": {judge: judgeHTTP("curl")}, "wget": {judge: judgeHTTP("wget")}, "iwr": {judge: judgeHTTP("iwr")}, "irm": {judge: judgeHTTP("iwr")},
		"Invoke-WebRequest": {judge: judgeHTTP("iwr")}, "Invoke-RestMethod": {judge: judgeHTTP("iwr")}, "http": {judge: judgeHTTPie}, "https": {judge: judgeHTTPie},
		"xh": {judge: judgeHTTPie}, "xhs": {judge: judgeHTTPie}, "httpie": {judge: judgeHTTPie}, "curlie": {judge: judgeHTTP("curl")},
		"shred": {class: Dangerous, category: Erase}, "srm": {class: Dangerous, category: RecursiveDeletion},

		// Disks.
		"dd":    {judge: judgeDd},
		"fdisk": {class: Dangerous, category: Formatting}, "sfdisk": {class: Dangerous, category: Formatting},
		"parted": {class: Dangerous, category: Formatting}, "gdisk": {class: Dangerous, category: Formatting},
		"sgdisk": {class: Dangerous, category: Formatting}, "cfdisk": {class: Dangerous, category: Formatting},
		"wipefs": {class: Dangerous, category: Formatting}, "mkfs": {class: Dangerous, category: Formatting}, "mkswap": {class: Dangerous, category: Formatting},
		"mke2fs": {class: Dangerous, category: Formatting}, "diskpart": {class: Dangerous, category: Formatting},
		"tune2fs": {class: Dangerous, category: RawDiskWrite}, "hdparm": {class: Dangerous, category: RawDiskWrite},
		"scrub": {class: Dangerous, category: RawDiskWrite}, "nwipe": {class: Dangerous, category: RawDiskWrite}, "blkdiscard": {class: Dangerous, category: RawDiskWrite}, "badblocks": {class: Dangerous, category: RawDiskWrite},
		"nvme":       {class: Dangerous, category: Formatting},
		"cryptsetup": {class: Dangerous, category: Formatting},
		"lvreduce":   {class: Dangerous, category: Formatting}, "lvremove": {class: Dangerous, category: Formatting}, "vgremove": {class: Dangerous, category: Formatting}, "pvremove": {class: Dangerous, category: Formatting},
		"zpool": {class: Dangerous, category: Formatting}, "zfs": {class: Dangerous, category: Formatting},
		"mdadm": {class: Dangerous, category: Formatting},

		// The host and its processes.
		"reboot": {class: Dangerous, category: Reload}, "isolate": {class: Dangerous, category: Shutdown}, "pm-suspend": {class: Dangerous, category: Shutdown}, "rtcwake": {class: Dangerous, category: Shutdown}, "kexec": {class: Dangerous, category: Reload},
		"shutdown": {judge: judgeShutdown}, "halt": {class: Dangerous, category: Shutdown}, "poweroff": {class: Dangerous, category: Shutdown},
		"init": {class: Dangerous, category: Shutdown}, "telinit": {class: Dangerous, category: Shutdown},
		"systemctl": {judge: judgeSystemctl}, "service": {judge: judgeService}, "initctl": {class: Dangerous, category: CriticalProcess},
		"kill": {judge: judgeKill}, "pkill": {class: Dangerous, category: CriticalProcess}, "killall": {class: Dangerous, category: CriticalProcess},
		"killall5": {class: Dangerous, category: CriticalProcess}, "skill": {class: Dangerous, category: CriticalProcess}, "fuser": {judge: judgeFuser}, "ifdown": {class: Dangerous, category: Shutdown},
		"crontab": {judge: judgeCrontab}, "userdel": {class: Dangerous, category: Erase}, "deluser": {class: Dangerous, category: Erase}, "delgroup": {class: Dangerous, category: Erase}, "groupdel": {class: Dangerous, category: Erase},
		"passwd": {class: Dangerous}, "iptables": {class: Dangerous},
		"ip6tables": {class: Dangerous}, "nft": {class: Dangerous},
		"ufw": {class: Dangerous}, "swapoff": {class: Dangerous, category: Shutdown},

		// Tools with verbs.
		"git": {judge: judgeGit}, "docker": {judge: judgeContainer}, "podman": {judge: judgeContainer}, "nerdctl": {judge: judgeContainer}, "docker-compose": {judge: judgeContainer},
		"oc": {judge: judgeKubectl}, "kubectl": {judge: judgeKubectl},
		"dpkg": {class: Mutate}, "rpm": {class: Mutate},

		"go": {judge: judgeGo}, "make": {class: Mutate}, "terraform": {judge: judgeTerraform}, "tofu": {judge: judgeTerraform}, "terragrunt": {judge: judgeTerraform},
		"ipmitool": {judge: judgePower}, "racadm": {judge: judgePower}, "ipmipower": {judge: judgePower},
		"enable": {class: Unknown},
		"nc":     {judge: judgeNetcat}, "ncat": {judge: judgeNetcat}, "netcat": {judge: judgeNetcat}, "socat": {judge: judgeNetcat},
		"visudo": {class: Dangerous, category: WriteOutsideRoot}, "vipw": {class: Dangerous, category: WriteOutsideRoot}, "chpasswd": {class: Dangerous, category: WriteOutsideRoot},
		"useradd": {class: Dangerous, category: WriteOutsideRoot}, "usermod": {class: Dangerous, category: WriteOutsideRoot}, "groupadd": {class: Dangerous, category: WriteOutsideRoot}, "chsh": {class: Dangerous, category: WriteOutsideRoot},
		"set": {class: Unknown}, "tmux": {class: Unknown}, "screen": {class: Unknown}, "parallel": {class: Unknown}, "ansible": {class: Unknown}, "salt": {class: Unknown},
	}
	for _, name := range strings.Fields(`nginx openresty apachectl apache2ctl httpd apache2 caddy squid rndc unbound-control postfix dovecot
		pg_ctl pg_ctlcluster sv`) {
		table[name] = program{judge: judgeDaemon}
	}
	return table
}()
