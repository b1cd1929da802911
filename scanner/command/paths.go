package command

import (
	"path"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// writes judges writing to a path.
func writes(p arg) verdict {
	switch {
	case p.dynamic:
		return unknown("it writes to a file that is only known at run time")
	case quietDevices.HasString(p.text):
		return verdict{class: ReadOnly}
	case strings.HasPrefix(path.Clean(p.text), "/dev/"):
		return dangerous(RawDiskWrite, "it writes to a device")
	case outside(p.text):
		return dangerous(WriteOutsideRoot, "it writes outside of the root")
	}
	return mutateFile("it writes a file")
}

// outside reports whether a path leads out of the working folder, judged by its text.
func outside(p string) bool {
	if strings.HasPrefix(p, "~") || path.IsAbs(p) {
		return true
	}
	clean := path.Clean(p)
	return clean == ".." || strings.HasPrefix(clean, "../")
}

// quietDevices keep nothing of what is written to them.
var quietDevices = text.Words("/dev/null /dev/stdout /dev/stderr /dev/tty")

// baseName returns the name of a program without its folder.
func baseName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// knownFolder reports whether a program is named without a folder, or with one of the system's.
func knownFolder(name string) bool {
	dir, _ := path.Split(name)
	return systemFolders.HasString(dir) || dir == ""
}

var systemFolders = text.Words("/bin/ /sbin/ /usr/bin/ /usr/sbin/ /usr/local/bin/ /usr/local/sbin/")
