// SPDX-License-Identifier: Apache-2.0

package containermeta

// Features switches what differs between installations.
type Features struct {
	// NoEnvFromMetadata reports no hashes of environments, and restarts no
	// containers.
	NoEnvFromMetadata bool
}
