package main

// layer is one of the things that keep a command in its sandbox. They overlap on purpose.
type layer string

const (
	layerUser     layer = "user"      // a user namespace
	layerPID      layer = "pid"       // a PID namespace
	layerNet      layer = "net"       // a network namespace
	layerIPC      layer = "ipc"       // an IPC namespace
	layerUTS      layer = "uts"       // a UTS namespace
	layerCgroupNS layer = "cgroupns"  // a cgroup namespace
	layerReadOnly layer = "read_only" // read-only mounts
	layerMasks    layer = "masks"     // covers on what is hidden
	layerLimits   layer = "limits"    // resource limits
	layerCgroup   layer = "cgroup"    // control groups
	layerCaps     layer = "caps"      // no capabilities
	layerNoNew    layer = "no_new"    // no new privileges
	layerLandlock layer = "landlock"  // Landlock
	layerSeccomp  layer = "seccomp"   // the filter of system calls
	layerFDs      layer = "fds"       // no inherited descriptors
	layerSession  layer = "session"   // a session of its own
)
