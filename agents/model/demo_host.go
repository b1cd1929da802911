package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// tellDisks reads df -h: filesystem, size, used, available, use%, mount point.
func tellDisks(q question, out string) string {
	type disk struct {
		text string
		use  int
	}
	var disks []disk
	for _, f := range rows(out) {
		if len(f) < 6 || slices.Contains([]string{"tmpfs", "devtmpfs", "udev", "efivarfs", "shm", "none"}, f[0]) {
			continue // not a disk
		}
		use, err := strconv.Atoi(strings.TrimSuffix(f[4], "%"))
		if err != nil {
			continue // the header, or a filesystem without size
		}
		disks = append(disks, disk{fmt.Sprintf("%s (%s): %s used, %s of %s, %s available", strings.Join(f[5:], " "), f[0], f[4], f[2], f[1], f[3]), use})
	}
	if len(disks) == 0 {
		return tellOutput(q, out)
	}
	slices.SortStableFunc(disks, func(a, b disk) int { return b.use - a.use })
	var b strings.Builder
	if len(disks) == 1 {
		b.WriteString("This host has one disk filesystem, " + disks[0].text + ".")
	} else {
		fmt.Fprintf(&b, "This host has %d disk filesystems. The fullest is %s. The others:", len(disks), disks[0].text)
		for _, d := range disks[1:] {
			b.WriteString("\n- " + d.text)
		}
	}
	if disks[0].use >= 90 {
		b.WriteString("\nThe fullest one needs attention: less than a tenth of it is left.")
	}
	return b.String()
}

// tellMemory reads free -m: total, used, free, shared, cache, available.
func tellMemory(q question, out string) string {
	text := ""
	for _, f := range rows(out) {
		n := make([]int, len(f))
		for i := range f {
			n[i], _ = strconv.Atoi(f[i]) // 0 for the labels
		}
		switch {
		case f[0] == "Mem:" && len(f) >= 7 && n[1] > 0:
			text = fmt.Sprintf("Of %s of memory, %s (%d%%) are used and %s are available.", mebi(n[1]), mebi(n[2]), 100*n[2]/n[1], mebi(n[6]))
		case f[0] == "Swap:" && len(f) >= 3 && text != "" && n[1] == 0:
			text += " There is no swap."
		case f[0] == "Swap:" && len(f) >= 3 && text != "":
			text += fmt.Sprintf(" Of %s of swap, %s (%d%%) are used.", mebi(n[1]), mebi(n[2]), 100*n[2]/n[1])
		}
	}
	if text == "" {
		return tellOutput(q, out)
	}
	return text
}

func mebi(n int) string {
	if n >= 10240 {
		return fmt.Sprintf("%.1f GiB", float64(n)/1024)
	}
	return fmt.Sprintf("%d MiB", n)
}

// tellProcesses reads ps: pid, user, CPU, memory, command.
func tellProcesses(q question, out string) string {
	n := 0
	var top strings.Builder
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 5 || f[0][0] < '0' || f[0][0] > '9' {
			continue
		}
		if n++; n <= 5 {
			fmt.Fprintf(&top, "\n- %s (process %s of %s): %s%% CPU, %s%% memory", strings.Join(f[4:], " "), f[0], f[1], f[2], f[3])
		}
	}
	if n == 0 {
		return tellOutput(q, out)
	}
	by := "CPU"
	if q.has("memory", "ram", "mem") {
		by = "memory"
	}
	return count(n, "process is", "processes are") + " running. Those that use the most " + by + ":" + top.String()
}

// tellUptime reads uptime: 11:16:00 up 33 min,  0 user,  load average: 0.31, 0.45, 0.41.
func tellUptime(q question, out string) string {
	_, after, ok := strings.Cut(out, " up ")
	before, load, ok2 := strings.Cut(after, "load average:")
	loads := strings.Split(strings.TrimSpace(load), ", ")
	if !ok || !ok2 || len(loads) != 3 {
		return tellOutput(q, out)
	}
	up := strings.Split(strings.TrimRight(before, ", "), ",")
	if last := up[len(up)-1]; len(up) > 1 && strings.Contains(last, "user") {
		up = up[:len(up)-1]
	}
	if h, m, ok := strings.Cut(strings.TrimSpace(up[len(up)-1]), ":"); ok {
		up[len(up)-1] = " " + h + " h " + strings.TrimPrefix(m, "0") + " min"
	}
	return fmt.Sprintf("This host has been up for %s. Its load average is %s, %s and %s over the last 1, 5 and 15 minutes.",
		strings.Join(strings.Fields(strings.Join(up, ",")), " "), loads[0], loads[1], loads[2])
}

// tellAddresses reads ip -br addr: interface, state, addresses.
func tellAddresses(q question, out string) string {
	var b strings.Builder
	var bare []string
	n := 0
	for _, f := range rows(out) {
		switch {
		case len(f) == 2:
			bare = append(bare, f[0])
		case len(f) > 2:
			n++
			fmt.Fprintf(&b, "\n- %s (%s): %s", f[0], f[1], strings.Join(f[2:], ", "))
		}
	}
	if n+len(bare) == 0 {
		return tellOutput(q, out)
	}
	text := count(n, "interface has an address", "interfaces have addresses") + ":" + b.String()
	if len(bare) > 0 {
		text += "\nWithout an address: " + strings.Join(bare, ", ") + "."
	}
	return text
}

// tellPorts reads ss -tuln: protocol, state, queues, local address, peer.
func tellPorts(q question, out string) string {
	var open []string
	for _, f := range rows(out) {
		if len(f) >= 5 && (f[1] == "LISTEN" || f[1] == "UNCONN") {
			if s := "\n- " + f[0] + " " + f[4]; !slices.Contains(open, s) {
				open = append(open, s)
			}
		}
	}
	switch {
	case len(open) > 0:
		return count(len(open), "address is", "addresses are") + " listening (* and 0.0.0.0 mean every interface):" + strings.Join(open, "")
	case strings.HasPrefix(out, "Netid"):
		return "No TCP or UDP port is listening."
	}
	return tellOutput(q, out)
}

// tellKernel reads uname -snrm: system, name, release, machine.
func tellKernel(q question, out string) string {
	f := strings.Fields(out)
	if len(f) != 4 {
		return tellOutput(q, out)
	}
	return fmt.Sprintf("The host %s runs %s %s on %s.", f[1], f[0], f[2], f[3])
}

func tellProcessors(q question, out string) string {
	n, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		return tellOutput(q, out)
	}
	return "This host has " + count(n, "processor", "processors") + "."
}

func tellDate(_ question, out string) string {
	return "On this host it is " + strings.TrimSpace(out) + "."
}

// tellFolder counts and shows what ls -la lists.
func tellFolder(q question, out string) string {
	n := 0
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) >= 9 && f[len(f)-1] != "." && f[len(f)-1] != ".." {
			n++
		}
	}
	where := "The project root"
	if p := q.path(); p != "" {
		where = "`" + p + "`"
	}
	return fmt.Sprintf("%s has %s:\n```\n%s\n```", where, count(n, "entry", "entries"), shorten(strings.TrimRight(out, "\n"), 4000))
}

func tellFile(q question, out string) string {
	return "`" + q.path() + "` contains:\n```\n" + shorten(strings.TrimRight(out, "\n"), 4000) + "\n```"
}
