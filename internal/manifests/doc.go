// SPDX-License-Identifier: Apache-2.0

// Package manifests helps packages to say as Go values what else an installation
// of them takes: CustomResourceDefinitions, RBAC rules and admission webhooks.
//
// It needs API types alone, so that every package may use it.
package manifests
