package command

import "strings"

// programs are the commands that are known. A command that is not here is Unknown.
var programs = func() map[string]program {
	table := map[string]program{
		// Readers that can do more.
		"sort": {class: ReadOnly, except: "o --output --compress-program"}, "uniq": {judge: judgeUniq},
		"date": {class: ReadOnly, except: "s --set"}, "hostname": {class: ReadOnly, limit: 1, except: "F --file b --boot"},
		"dmesg": {class: ReadOnly, except: "c C D E n --clear --read-clear --console-on --console-off --console-level"},
		"journalctl": {class: ReadOnly, except: "--vacuum-size --vacuum-time --vacuum-files --rotate --flush --sync --relinquish-var " +
			"--smart-relinquish-var --update-catalog --setup-keys"},
		"ss": {class: ReadOnly, except: "K --kill"}, "rg": {class: ReadOnly, except: "--pre --hostname-bin"},
		"tree": {class: ReadOnly, except: "o"}, "file": {class: ReadOnly, except: "C --compile"},
		"arp": {class: ReadOnly, except: "s d f --set --delete --file"}, "route": {class: ReadOnly, limit: 1},
		"ifconfig": {judge: judgeIfconfig}, "mount": {class: ReadOnly, limit: 1, except: "a --all o --options"},
		"sysctl": {judge: judgeSysctl}, "ps": {judge: judgePs}, "find": {judge: judgeFind}, "ip": {judge: judgeIP}, "sed": {judge: judgeSed},
		"env": {class: Unknown}, "printenv": {class: Unknown}, "command": {class: ReadOnly}, "type": {class: ReadOnly},
		"less": {class: ReadOnly, except: "o O --log-file --LOG-FILE"}, "zless": {class: ReadOnly, except: "o O"}, "sar": {class: ReadOnly, except: "o"},
		"dmidecode": {class: ReadOnly, except: "--dump-bin"}, "lshw": {class: ReadOnly, except: "-dump"},
		"yq": {class: ReadOnly, except: "i --inplace"}, "xxd": {class: ReadOnly, except: "r", limit: 2},

		// Files.
		"touch": {class: Mutate, writes: true}, "mkdir": {class: Mutate, writes: true}, "rmdir": {class: Mutate, writes: true},
		"cp": {class: Mutate, judge: judgeCopy("cp")}, "install": {class: Mutate, judge: judgeCopy("install")}, "ln": {class: Mutate, judge: judgeCopy("ln")},
		"scp": {class: Mutate, judge: judgeCopy("scp")}, "rsync": {judge: judgeRsync},
		"mv": {class: Mutate, writes: true}, "tee": {class: Mutate, writes: true}, "truncate": {class: Mutate, writes: true},
		"unlink": {class: Mutate, writes: true}, "patch": {class: Mutate, writes: true}, "split": {class: Mutate, writes: true},
		"chmod": {judge: judgeOwner("chmod")}, "chown": {judge: judgeOwner("chown")}, "chgrp": {judge: judgeOwner("chgrp")},
		"gzip": {class: Mutate, writes: true}, "gunzip": {class: Mutate, writes: true}, "bzip2": {class: Mutate, writes: true}, "xz": {class: Mutate, writes: true},
		"rm": {judge: judgeRm}, "tar": {judge: judgeTar}, "unzip": {reads: "l -l -Z", judge: judgeTarget("unzip", "d")}, "zip": {class: Mutate, writes: true},
		"curl": {judge: judgeHTTP("curl")}, "wget": {judge: judgeHTTP("wget")}, "iwr": {judge: judgeHTTP("iwr")}, "irm": {judge: judgeHTTP("iwr")},
		"Invoke-WebRequest": {judge: judgeHTTP("iwr")}, "Invoke-RestMethod": {judge: judgeHTTP("iwr")}, "http": {judge: judgeHTTPie}, "https": {judge: judgeHTTPie},
		"xh": {judge: judgeHTTPie}, "xhs": {judge: judgeHTTPie}, "httpie": {judge: judgeHTTPie}, "curlie": {judge: judgeHTTP("curl")},
		"shred": {class: Dangerous, category: Erase}, "srm": {class: Dangerous, category: RecursiveDeletion},

		// Disks.
		"dd":    {judge: judgeDd},
		"fdisk": {class: Dangerous, category: Formatting, reads: "l --list"}, "sfdisk": {class: Dangerous, category: Formatting, reads: "l d --list --dump"},
		"parted": {class: Dangerous, category: Formatting, reads: "l --list"}, "gdisk": {class: Dangerous, category: Formatting, reads: "l"},
		"sgdisk": {class: Dangerous, category: Formatting, reads: "p --print"}, "cfdisk": {class: Dangerous, category: Formatting},
		"wipefs": {class: Dangerous, category: Formatting}, "mkfs": {class: Dangerous, category: Formatting, reads: "V"}, "mkswap": {class: Dangerous, category: Formatting},
		"mke2fs": {class: Dangerous, category: Formatting}, "diskpart": {class: Dangerous, category: Formatting},
		"tune2fs": {class: Dangerous, category: RawDiskWrite, reads: "l"}, "hdparm": {class: Dangerous, category: RawDiskWrite, reads: "I i"},
		"scrub": {class: Dangerous, category: RawDiskWrite}, "nwipe": {class: Dangerous, category: RawDiskWrite}, "blkdiscard": {class: Dangerous, category: RawDiskWrite}, "badblocks": {class: Dangerous, category: RawDiskWrite},
		"nvme":       {class: Dangerous, category: Formatting, verbs: "list list-ns list-subsys id-ctrl id-ns smart-log version"},
		"cryptsetup": {class: Dangerous, category: Formatting, verbs: "status isLuks luksDump luksUUID"},
		"lvreduce":   {class: Dangerous, category: Formatting}, "lvremove": {class: Dangerous, category: Formatting}, "vgremove": {class: Dangerous, category: Formatting}, "pvremove": {class: Dangerous, category: Formatting},
		"zpool": {class: Dangerous, category: Formatting, verbs: "status list iostat history get scrub"}, "zfs": {class: Dangerous, category: Formatting, verbs: "list get"},
		"mdadm": {class: Dangerous, category: Formatting, reads: "D E Q --detail --examine --query"},

		// The host and its processes.
		"reboot": {class: Dangerous, category: Reload}, "isolate": {class: Dangerous, category: Shutdown}, "pm-suspend": {class: Dangerous, category: Shutdown}, "rtcwake": {class: Dangerous, category: Shutdown}, "kexec": {class: Dangerous, category: Reload},
		"shutdown": {judge: judgeShutdown}, "halt": {class: Dangerous, category: Shutdown}, "poweroff": {class: Dangerous, category: Shutdown},
		"init": {class: Dangerous, category: Shutdown}, "telinit": {class: Dangerous, category: Shutdown},
		"systemctl": {judge: judgeSystemctl}, "service": {judge: judgeService}, "initctl": {class: Dangerous, category: CriticalProcess, verbs: "list status"},
		"kill": {judge: judgeKill}, "pkill": {class: Dangerous, category: CriticalProcess}, "killall": {class: Dangerous, category: CriticalProcess, reads: "l --list"},
		"killall5": {class: Dangerous, category: CriticalProcess}, "skill": {class: Dangerous, category: CriticalProcess}, "fuser": {judge: judgeFuser}, "ifdown": {class: Dangerous, category: Shutdown},
		"crontab": {judge: judgeCrontab}, "userdel": {class: Dangerous, category: Erase}, "deluser": {class: Dangerous, category: Erase}, "delgroup": {class: Dangerous, category: Erase}, "groupdel": {class: Dangerous, category: Erase},
		"passwd": {class: Dangerous, reads: "S --status"}, "iptables": {class: Dangerous, reads: "L S --list --list-rules"},
		"ip6tables": {class: Dangerous, reads: "L S --list --list-rules"}, "nft": {class: Dangerous, verbs: "list"},
		"ufw": {class: Dangerous, verbs: "status"}, "swapoff": {class: Dangerous, category: Shutdown},

		// Tools with verbs.
		"git": {judge: judgeGit}, "docker": {judge: judgeContainer}, "podman": {judge: judgeContainer}, "nerdctl": {judge: judgeContainer}, "docker-compose": {judge: judgeContainer},
		"oc": {judge: judgeKubectl}, "kubectl": {judge: judgeKubectl},
		"dpkg": {class: Mutate, reads: "l L s S --list --listfiles --status --search"}, "rpm": {class: Mutate, reads: "q --query V --verify"},
		"apt-cache": {class: ReadOnly},
		"go":        {judge: judgeGo}, "make": {class: Mutate}, "terraform": {judge: judgeTerraform}, "tofu": {judge: judgeTerraform}, "terragrunt": {judge: judgeTerraform},
		"ipmitool": {judge: judgePower}, "racadm": {judge: judgePower}, "ipmipower": {judge: judgePower},
		"clear": {class: ReadOnly}, "enable": {class: Unknown}, "printf": {judge: judgePrintf},
		"man": {class: ReadOnly, except: "P H --pager --html --preprocessor"}, "info": {class: ReadOnly, except: "o --output"}, "hash": {class: ReadOnly, except: "p"}, "bat": {class: ReadOnly, except: "--pager --map-syntax"}, "nc": {judge: judgeNetcat}, "ncat": {judge: judgeNetcat}, "netcat": {judge: judgeNetcat}, "socat": {judge: judgeNetcat},
		"visudo": {class: Dangerous, category: WriteOutsideRoot}, "vipw": {class: Dangerous, category: WriteOutsideRoot}, "chpasswd": {class: Dangerous, category: WriteOutsideRoot},
		"useradd": {class: Dangerous, category: WriteOutsideRoot}, "usermod": {class: Dangerous, category: WriteOutsideRoot}, "groupadd": {class: Dangerous, category: WriteOutsideRoot}, "chsh": {class: Dangerous, category: WriteOutsideRoot},
		"set": {class: Unknown}, "tmux": {class: Unknown}, "screen": {class: Unknown}, "parallel": {class: Unknown}, "ansible": {class: Unknown}, "salt": {class: Unknown}, "fd": {class: ReadOnly, except: "x X --exec --exec-batch"},
	}
	for _, name := range strings.Fields(`nginx openresty apachectl apache2ctl httpd apache2 caddy squid rndc unbound-control postfix dovecot
		pg_ctl pg_ctlcluster sv`) {
		table[name] = program{judge: judgeDaemon}
	}
	for _, name := range strings.Fields(`[ : b2sum base32 base64 basename bc cal cat cd cksum cmp column comm cut df diff dig dirname du
		echo egrep expand expr false fgrep findmnt fmt fold free getconf getent getfacl grep groups head hexdump host hostid id iostat ipcalc
		jq last lastlog ls lsattr lsblk lscpu lsmem lsmod lsns lsof lspci lsusb md5sum mpstat mtr namei nl nm nproc nslookup numfmt
		objdump od paste pgrep pidof pidstat ping ping6 pmap pr pstree pwd readelf readlink realpath rev seq sha1sum sha224sum
		sha256sum sha384sum sha512sum size sleep stat strings sum tac tail test top tr tracepath traceroute true tty uname
		unexpand uptime users vmstat w wc whatis whereis which who whoami zcat zgrep
		exit return break continue wait apropos tldr help cmp jobs times ulimit umask shellcheck pwdx lscpu exa eza hexyl zcmp lsmod modinfo lsb_release sha3sum cksum dig drill whois
		include exclude begin section count no-more`) {
		table[name] = program{class: ReadOnly}
	}
	return table
}()
