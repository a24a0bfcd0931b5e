// SPDX-License-Identifier: Apache-2.0

// Package faults strikes a working cluster again and again: programs are killed or stopped, and networks break. Meanwhile
// users change its workloads, of all kinds, say where their pods go, and evict and delete pods that a budget protects. It
// judges every state on the way, with package invariants, and wants the workloads to settle where their specs say. It
// holds only tests; "go test -seed=N" chooses the faults and the changes of another run again, though not the moments at
// which they strike.
package faults
