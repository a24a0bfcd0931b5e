package cluster

import "syscall"

// processAttributes puts a child into a process group of its own, out of reach of the terminal's Ctrl-C, and has the kernel
// signal it when its parent dies: one that is stopped cannot see the end of its pipe. A child that outlives the parent for
// a moment is only woken up.
func processAttributes(outlives bool) *syscall.SysProcAttr {
	atParentsDeath := syscall.SIGKILL
	if outlives {
		atParentsDeath = syscall.SIGCONT
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: atParentsDeath}
}
