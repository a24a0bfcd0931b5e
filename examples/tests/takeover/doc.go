// SPDX-License-Identifier: Apache-2.0

// Package takeover moves clusters from OpenKruise 1.5 to 1.9 to podwright, and back. The folders in testdata are named by the release.
// They have the installation, the objects, and three answers. The first is what "kubectl podwright takeover check" says. The second is
// what podwright writes to what it does not own alone, each write by a rule. The third is what podwright leaves that the release does
// not know.
//
// Each story is played twice: in memory, in virtual time, by the controllers alone, and on a real control plane by the manager. There the
// definitions are those of definitions.txt. It has the fields of each release. The folder live names the writes that a real control plane
// adds.
package takeover
