package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// Where seccomp_data has what a filter looks at. Both processors have the low half of an argument
// first.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

var allow = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}

func refuse(e unix.Errno) bpf.RetConstant {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(e)}
}

// check is a call that is allowed for some arguments only. Its code ends with a return on every way.
type check interface{ code() []bpf.Instruction }

// always is a call whose arguments do not matter.
type always bpf.RetConstant

func (a always) code() []bpf.Instruction { return []bpf.Instruction{bpf.RetConstant(a)} }

// without is a call whose argument arg must have none of bits.
type without struct {
	arg  uint32
	bits uint32
	err  unix.Errno
}

func (c without) code() []bpf.Instruction {
	return []bpf.Instruction{load(c.arg), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: c.bits, SkipFalse: 1}, refuse(c.err), allow}
}

// modes is a call that sets the mode arg of a file. A program that runs as its owner, left behind in a
// folder of the host, would serve others there.
type modes struct{ arg uint32 }

func (c modes) code() []bpf.Instruction {
	return without{c.arg, unix.S_ISUID | unix.S_ISGID, unix.EPERM}.code()
}

// opens is a call that makes a file with a mode, if its flags say so.
type opens struct{ flags, mode uint32 }

func (c opens) code() []bpf.Instruction {
	const makes = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY
	return append([]bpf.Instruction{load(c.flags), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: makes, SkipTrue: 1}, allow}, modes{c.mode}.code()...)
}

// oneOf is a call whose argument arg, masked, must be one of values.
type oneOf struct {
	arg    uint32
	mask   uint32
	values []uint32
	err    unix.Errno
	then   check // looked at for those values; nil allows
}

func (c oneOf) code() []bpf.Instruction {
	code := []bpf.Instruction{load(c.arg), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.mask}}
	for i, v := range c.values {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(c.values) - i)})
	}
	code = append(code, refuse(c.err))
	if c.then == nil {
		return append(code, allow)
	}
	return append(code, c.then.code()...)
}

// noneOf is a call whose argument arg must be none of values.
type noneOf struct {
	arg    uint32
	values []uint32
	err    unix.Errno
}

func (c noneOf) code() []bpf.Instruction {
	code := []bpf.Instruction{load(c.arg)}
	for i, v := range c.values {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(c.values) - i)})
	}
	return append(code, allow, refuse(c.err))
}

func load(arg uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offArgs + 8*arg, Size: 4} }

const (
	whole      = ^uint32(0)
	namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	socketType = 0xf // SOCK_NONBLOCK and SOCK_CLOEXEC lie above
)

// sandboxed is what a filter depends on.
type sandboxed struct {
	sockets bool // the network is the sandbox's own, or meant to be reached
	numbers bool // process numbers are the sandbox's own
	signals bool // signals stay within the sandbox
	others  bool // the command has a user that owns nothing else, or sees nothing else of it
}

// rules says for each known call when it is allowed.
func rules(s sandboxed) map[uintptr]check {
	r := map[uintptr]check{
		unix.SYS_CLONE:  without{0, namespaces, unix.EPERM},
		unix.SYS_OPENAT: opens{flags: 2, mode: 3},
		// A datagram socket of a pair could still send to any path.
		unix.SYS_SOCKETPAIR: oneOf{
			0, whole,
			[]uint32{unix.AF_UNIX},
			unix.EAFNOSUPPORT,
			oneOf{1, socketType, []uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}, unix.ESOCKTNOSUPPORT, nil},
		},
		unix.SYS_SOCKET:      always(refuse(unix.EACCES)),
		unix.SYS_FCHMOD:      modes{1},
		unix.SYS_FCHMODAT:    modes{2},
		unix.SYS_FCHMODAT2:   modes{2},
		unix.SYS_MKNODAT:     modes{2},
		unix.SYS_PERSONALITY: oneOf{0, whole, []uint32{0, whole}, unix.EPERM, nil},
		unix.SYS_IOCTL: oneOf{1, whole, []uint32{
			unix.TCGETS, unix.TCSETS, unix.TCSETSW, unix.TCSETSF, unix.TIOCGWINSZ, unix.TIOCGPGRP, unix.TIOCSPGRP,
			fionread, fionbio, fioclex, fionclex, fioasync, unix.FS_IOC_GETFLAGS,
		}, unix.ENOTTY, nil},
		// Restricting itself further, with flags that give no descriptor.
		unix.SYS_SECCOMP: oneOf{
			0, whole,
			[]uint32{unix.SECCOMP_SET_MODE_FILTER},
			unix.EINVAL,
			oneOf{1, whole, []uint32{0, unix.SECCOMP_FILTER_FLAG_TSYNC}, unix.EINVAL, nil},
		},
		unix.SYS_PRCTL: oneOf{0, whole, []uint32{
			unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_PDEATHSIG, unix.PR_GET_PDEATHSIG,
			unix.PR_SET_DUMPABLE, unix.PR_GET_DUMPABLE, unix.PR_SET_NO_NEW_PRIVS, unix.PR_GET_NO_NEW_PRIVS,
			unix.PR_SET_VMA, unix.PR_CAPBSET_READ, unix.PR_GET_SECCOMP, unix.PR_GET_SECUREBITS, unix.PR_GET_KEEPCAPS,
			unix.PR_SET_TIMERSLACK, unix.PR_GET_TIMERSLACK, unix.PR_SET_THP_DISABLE, unix.PR_GET_THP_DISABLE,
			unix.PR_GET_TID_ADDRESS, unix.PR_GET_CHILD_SUBREAPER,
		}, unix.EINVAL, nil},
	}
	maps.Copy(r, older)
	for _, nr := range allowed {
		r[nr] = always(allow)
	}
	if s.sockets {
		r[unix.SYS_SOCKET] = oneOf{
			0, whole,
			[]uint32{unix.AF_INET, unix.AF_INET6},
			unix.EAFNOSUPPORT,
			oneOf{1, socketType, []uint32{unix.SOCK_STREAM, unix.SOCK_DGRAM}, unix.ESOCKTNOSUPPORT, nil},
		}
	}
	for _, nr := range signals {
		if r[nr] = always(allow); !s.signals {
			r[nr] = always(refuse(unix.EPERM))
		}
	}
	if !s.signals { // a file can send signals too
		r[unix.SYS_FCNTL] = noneOf{1, []uint32{unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG}, unix.EPERM}
	}
	if !s.numbers { // files are kept away by Landlock only, which knows it since Linux 6.2
		r[unix.SYS_TRUNCATE] = always(refuse(unix.EPERM))
	}
	if !s.others {
		for _, nr := range attributes {
			r[nr] = always(refuse(unix.EPERM))
		}
	}
	for _, nr := range neighbours {
		if r[nr] = always(allow); !s.numbers {
			r[nr] = oneOf{0, whole, []uint32{0}, unix.EPERM, nil}
		}
	}
	for _, nr := range kinds {
		if r[nr] = always(allow); !s.numbers {
			r[nr] = always(refuse(unix.EPERM))
		}
	}
	return r
}

// Numbers of ioctl that package unix does not have.
const (
	fionread = 0x541b
	fionbio  = 0x5421
	fionclex = 0x5450
	fioclex  = 0x5451
	fioasync = 0x5452
)

// span is a range of calls, from a number to the next span's, that are judged alike.
type span struct {
	from uint32
	code []bpf.Instruction
}

// program is the filter: the architecture, then a search for the number's span by halves. The kernel
// remembers which calls are always allowed and runs the program for the others only.
func program(s sandboxed) []bpf.Instruction {
	unknown := refuse(unix.ENOSYS)
	spans := []span{{0, []bpf.Instruction{unknown}}}
	last := always(unknown)
	add := func(nr uint32, c check) {
		if a, same := c.(always); same {
			if a == last {
				return
			}
			last = a
		} else {
			last = always{}
		}
		if spans[len(spans)-1].from == nr {
			spans = spans[:len(spans)-1]
		}
		spans = append(spans, span{nr, c.code()})
	}
	r := rules(s)
	numbers := slices.Sorted(maps.Keys(r))
	for i, nr := range numbers {
		add(uint32(nr), r[nr])
		if i+1 == len(numbers) || numbers[i+1] != nr+1 {
			add(uint32(nr)+1, always(unknown))
		}
	}
	kill := bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}
	return append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		kill,
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: foreignFrom, SkipFalse: 1},
		kill,
	}, search(spans)...)
}

// search finds the span of the number in the accumulator.
func search(spans []span) []bpf.Instruction {
	if len(spans) == 1 {
		return spans[0].code
	}
	half := len(spans) / 2
	below := search(spans[:half])
	code := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: spans[half].from, SkipFalse: 1},
		bpf.Jump{Skip: uint32(len(below))},
	}
	return append(append(code, below...), search(spans[half:])...)
}

// assembledFor keeps programs in the form that the kernel takes, which takes longer to make than a
// sandbox may.
var assembledFor sync.Map // of []byte by sandboxed

// assembled gives the program for s, as struct sock_filter.
func assembled(s sandboxed) ([]byte, error) {
	if b, ok := assembledFor.Load(s); ok {
		return b.([]byte), nil
	}
	raw, err := bpf.Assemble(program(s))
	if err != nil {
		return nil, fmt.Errorf("assembling the filter of system calls: %w", err)
	}
	b := make([]byte, 0, sockFilter*len(raw))
	for _, r := range raw {
		b = binary.NativeEndian.AppendUint16(b, r.Op)
		b = append(b, r.Jt, r.Jf)
		b = binary.NativeEndian.AppendUint32(b, r.K)
	}
	assembledFor.Store(s, b)
	return b, nil
}

const sockFilter = 8 // bytes

// filter installs a program on the calling thread, which must have no_new_privs, or the capability to
// do without.
func filter(program []byte) error {
	if len(program) == 0 {
		return errors.New("there is no filter of system calls")
	}
	prog := unix.SockFprog{Len: uint16(len(program) / sockFilter), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}
	if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return fmt.Errorf("installing the filter of system calls: %w", e)
	}
	return nil
}

// filterOf says what the filter of a request depends on.
func filterOf(mode wire.Mode, n wire.Network, scoped, root bool) sandboxed {
	own := mode != wire.Minimal
	return sandboxed{sockets: own || n == wire.Host, numbers: own, signals: own || scoped, others: own || root}
}
