// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// processAttributes puts a child into a process group of its own, out of reach of the terminal's Ctrl-C. The kernel signals
// the child when its parent dies, because a stopped child cannot see the end of its pipe. A child that outlives the parent
// for a moment is only woken up.
func processAttributes(p *process) *syscall.SysProcAttr {
	atParentsDeath := syscall.SIGKILL
	switch {
	case p.outlives:
		atParentsDeath = syscall.SIGCONT
	case p.confined:
		atParentsDeath = 0 // the parent cannot be seen from there, and looks dead
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: atParentsDeath, Cloneflags: p.namespaces}
}

// awaitStopped waits until all threads of a child have stopped. The signal reaches them one by one, and those that run
// still answer requests.
func awaitStopped(pid int) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		var stopped unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &stopped, unix.WSTOPPED|unix.WNOWAIT|unix.WNOHANG, nil)
		switch {
		case err != nil && err != unix.EINTR:
			return fmt.Errorf("waiting for process %d to stop: %w", pid, err)
		case stopped.Signo != 0:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("process %d has not stopped a minute after SIGSTOP", pid)
		}
	}
}

// onFirstThread says whether the calling goroutine runs on the thread with which the program began.
func onFirstThread() bool { return unix.Gettid() == unix.Getpid() }

// machineNamespaces are what the first process of a real node gets of its own; it makes that for control groups itself.
const machineNamespaces = unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET

// enter moves the calling thread into the namespaces of a process. The processes that the thread starts are born there.
func enter(pid int) error {
	names := []string{"net", "cgroup", "pid", "mnt"}
	var files []int
	for _, name := range names {
		file, err := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("namespace %s of process %d: %w", name, pid, err)
		}
		defer unix.Close(file)
		files = append(files, file)
	}
	// A thread that shares its root directory with others may not change its mounts.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	for i, file := range files {
		if err := unix.Setns(file, 0); err != nil {
			return fmt.Errorf("enter namespace %s of process %d: %w", names[i], pid, err)
		}
	}
	return nil
}

// snapshotter returns the name of the way in which containerd can stack the layers of images in a directory.
func snapshotter(dir string) string {
	var filesystem unix.Statfs_t
	if err := unix.Statfs(dir, &filesystem); err == nil && filesystem.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native" // overlays of overlays do not work
	}
	return "overlayfs"
}
