// SPDX-License-Identifier: Apache-2.0

// Package together plays histories in which several controllers write to the same pods. A
// CloneSet updates them in place, a SidecarSet the containers that it injected when they
// were created, and users have single containers recreated. Each controller is judged by
// the invariants of its own kind, and by those of both.
//
// It holds tests only.
package together
