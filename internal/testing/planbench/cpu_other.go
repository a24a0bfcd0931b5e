// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package planbench

import "time"

var began = time.Now()

// spent is the time that has passed: that of the thread alone is read on Linux only.
func spent() time.Duration { return time.Since(began) }
