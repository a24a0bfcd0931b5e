// SPDX-License-Identifier: Apache-2.0

// Package install says as Go values what runs the manager and the node agents of the examples in a cluster. That is
// namespaces, CRDs, accounts with their RBAC rules, admission policies, a Deployment with its Service, and a DaemonSet.
// Rules, policies and CRDs are those that the programs state for their flags, and ports are those that they listen on.
//
// The folders kustomize and chart hold the same objects as files; what changes with the Go values there is written by
//
//	go run ./install/generate
//
// which is part of "make generate". With flags for the programs it writes files with other rules, policies and CRDs: see
// package generate. Dockerfile builds the images.
//
// # The chart and CRDs
//
// CRDs, and the namespaces, are templates with the annotation helm.sh/resource-policy: keep. An upgrade of the release
// brings fields that are new, which the API server would drop otherwise. But Helm never deletes a CRD, and with it all
// objects of its kind. It does not when the release is uninstalled, nor when a later chart has the CRD no more. What Helm
// has in a folder crds it does not delete either, but does not upgrade.
package install
