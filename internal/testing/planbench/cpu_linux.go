// SPDX-License-Identifier: Apache-2.0

package planbench

import (
	"syscall"
	"time"
)

// ofThread is RUSAGE_THREAD of Linux.
const ofThread = 1

// spent is the CPU time that the thread has taken; it must be the same thread each time.
func spent() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(ofThread, &used); err != nil {
		panic(err) // never: Linux has had it since 2.6.26
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
