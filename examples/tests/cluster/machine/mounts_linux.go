// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// private lists the places where kubelets, container runtimes and network plugins write without asking. Each machine has
// empty ones in memory.
var private = []string{"/run", "/var/lib", "/var/log"}

// settings of the kernel that a kubelet changes, below /proc/sys. They belong to the whole computer.
var settings = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

// mountOwn gives the machine its own view of some directories.
func mountOwn(keep []string) error {
	kept := map[string]*os.File{}
	for _, dir := range keep {
		file, err := os.Open(dir)
		if err != nil {
			return err
		}
		defer file.Close()
		kept[dir] = file
	}
	for _, dir := range private {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
			return fmt.Errorf("mount an empty %s: %w", dir, err)
		}
	}
	for dir, file := range kept {
		if err := restore(dir, file); err != nil {
			return fmt.Errorf("keep %s: %w", dir, err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return pretendSettings()
}

// pretendSettings puts a file with the same content in place of each of the settings, so that a change has no effect.
func pretendSettings() error {
	for _, setting := range settings {
		real := filepath.Join("/proc/sys", setting)
		value, err := os.ReadFile(real)
		if err != nil {
			return err
		}
		pretended := filepath.Join("/run", "sys", setting)
		if err := os.MkdirAll(filepath.Dir(pretended), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(pretended, value, 0o644); err != nil {
			return err
		}
		if err := unix.Mount(pretended, real, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("put a file in place of %s: %w", real, err)
		}
	}
	return nil
}

// restore makes an open directory visible at its path again, if it no longer is.
func restore(dir string, file *os.File) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return unix.Mount(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), dir, "", unix.MS_BIND|unix.MS_REC, "")
}
