// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cluster

import (
	"errors"
	"syscall"
)

// processAttributes puts a child into a process group of its own, out of reach of the terminal's Ctrl-C. When the parent
// dies, the kernel wakes stopped members of the then orphaned group, and they see the end of their pipe.
func processAttributes(*process) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// awaitStopped does not wait: only Linux tells when a process stands.
func awaitStopped(int) error { return nil }

func onFirstThread() bool { return false }

const machineNamespaces = 0

// enter fails: only Linux has namespaces.
func enter(int) error { return errors.New("namespaces need Linux") }

func snapshotter(string) string { return "native" }
