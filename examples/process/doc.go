// SPDX-License-Identifier: Apache-2.0

// Package process is what the programs of this module have in common beside their
// work. That is how a process finds the API server, logs, answers probes, serves
// HTTP and ends. Packages below it have what programs that run controllers share.
// Package controllers is a loop that starts each when its CRD is there. Others have
// the gates (features), CRDs (crds), leadership (leader), metrics, RBAC rules
// (permissions), and webhooks with their certificates and registration (webhooks).
package process
