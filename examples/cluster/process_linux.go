package cluster

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

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

// awaitStopped waits until all threads of a child have stopped. The signal reaches them one by one, and those that run
// still answer requests.
func awaitStopped(pid int) error {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		var stopped unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &stopped, unix.WSTOPPED|unix.WNOWAIT|unix.WNOHANG, nil)
		switch {
		case err != nil && err != unix.EINTR:
			return fmt.Errorf("waiting for process %d to stop: %w", pid, err)
		case stopped.Signo != 0:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("process %d has not stopped 5 s after SIGSTOP", pid)
		}
	}
}
