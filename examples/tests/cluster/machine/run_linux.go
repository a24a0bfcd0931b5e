// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"

	"golang.org/x/sys/unix"
)

// Namespaces belong to threads. Who enters the machine takes those of its first thread, which therefore makes them.
func init() { runtime.LockOSThread() }

// run sets the machine up and returns when standard input closes.
func run(o options) error {
	if os.Getpid() != 1 {
		return errors.New("it is not the first process of a process namespace: package cluster starts it in new ones")
	}
	// Whatever is mounted from here on stays in the machine, and pods may share it with their containers.
	for _, propagation := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|propagation, ""); err != nil {
			return fmt.Errorf("make the mounts the machine's own: %w", err)
		}
	}
	if err := confine(o.Cgroup); err != nil {
		return fmt.Errorf("control group %s: %w", o.Cgroup, err)
	}
	if err := mountOwn(o.Keep); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
		return fmt.Errorf("make the machine a router of its pods: %w", err)
	}
	go reap()
	if err := os.WriteFile(o.ReadyFile, nil, 0o600); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// reap buries the processes whose parents have died, as the first process of a machine must.
func reap() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	for range died {
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 && !errors.Is(err, unix.EINTR) {
				break
			}
		}
	}
}
