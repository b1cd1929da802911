package command

// Class is what a command line does at worst.
type Class string

// The classes, from harmless to unknown. Whoever decides must treat Unknown like Dangerous.
const (
	ReadOnly  Class = "read_only"
	Mutate    Class = "mutate"
	Dangerous Class = "dangerous"
	Unknown   Class = "unknown"
)

// The categories of dangerous commands.
const (
	Reload            = "reload"
	Erase             = "erase"
	Shutdown          = "shutdown"
	CriticalProcess   = "critical_process"
	RecursiveDeletion = "recursive_deletion"
	RawDiskWrite      = "raw_disk_write"
	Formatting        = "formatting"
	WriteOutsideRoot  = "write_outside_root"
)

// RemoteCode is the category of running what comes from elsewhere: curl … | sh.
const RemoteCode = "remote_code"

// The traits of command lines, whatever their class is. One that is missing is not disproved.
const (
	Network     = "network"      // it reaches out to other hosts, be it to resolve a name
	ReadsSecret = "reads_secret" // it shows keys, passwords, environments of processes, raw disks or memory
	Endless     = "endless"      // it does not end by itself, or may fill the memory
	Pager       = "pager"        // it opens a program that waits for keys and can start others
	Privileged  = "privileged"   // it runs with other rights
)

// Span is the part of a command line that gave it a category.
type Span struct {
	Start    int    `json:"start"` // first byte
	End      int    `json:"end"`   // byte after the last one
	Category string `json:"category,omitempty"`
	Reason   string `json:"reason"`
}

// Part is one simple command of a command line, with wrappers such as sudo taken off.
type Part struct {
	Name    string   `json:"name"` // base name of the program, empty when it is only known at run time
	Args    []string `json:"args,omitempty"`
	Dynamic bool     `json:"dynamic,omitempty"` // name or arguments hold expansions
}

// Command is the analysis of a command line.
type Command struct {
	Class      Class    `json:"class"`
	Categories []string `json:"categories,omitempty"` // sorted, each once
	Spans      []Span   `json:"spans,omitempty"`      // in the order of the text
	Parts      []Part   `json:"parts,omitempty"`      // in the order of the text
	Traits     []string `json:"traits,omitempty"`     // what the class does not say: see the constants

	// Confined says of a line of the class Mutate that it is certain to need nothing but the files in
	// the folder that it runs in. One that may need more of the host (services, interfaces, the network,
	// files elsewhere) is not.
	Confined bool `json:"confined,omitempty"`
}
