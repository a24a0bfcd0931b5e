// SPDX-License-Identifier: Apache-2.0

package planbench

import (
	"syscall"
	"time"
	"unsafe"
)

// threadClock is CLOCK_THREAD_CPUTIME_ID of Linux.
const threadClock = 3

// spent is the CPU time that the thread has taken; it must be the same thread each time.
func spent() time.Duration {
	var t syscall.Timespec
	if _, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&t)), 0); err != 0 {
		panic(err) // never: Linux has had it since 2.6.12
	}
	return time.Duration(t.Nano())
}
