// SPDX-License-Identifier: Apache-2.0

// Package process is what the programs of this module have in common beside their work
// and module kit. It has flags, logs, signals and manifests. Packages below it have what
// programs that run controllers share. Package controllers is a loop that starts each
// when its CRD is there, and package features has the gates.
package process
