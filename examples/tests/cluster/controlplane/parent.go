// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// exitWithParent ends this process when the other end of standard input closes.
//
// SIGHUP is ignored: the kernel sends it, followed by SIGCONT, to a stopped process whose parent has died. That process
// should wake up and see the end of the pipe.
func exitWithParent() {
	signal.Ignore(syscall.SIGHUP)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		if dir := os.Getenv("PODWRIGHT_REMOVE_DIR"); dir != "" {
			remove(dir)
		}
		os.Exit(1)
	}()
}

// remove deletes the cluster's temporary directory that the parent can no longer delete. The siblings die at the same time
// and may still write a last line, hence the second look.
func remove(dir string) {
	for range 3 {
		_ = os.RemoveAll(dir)
		time.Sleep(100 * time.Millisecond)
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
	}
}
