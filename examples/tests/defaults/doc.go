// SPDX-License-Identifier: Apache-2.0

// Package defaults proves that the defaults that podwright gives to pod
// templates and claim templates are those of Kubernetes. The exceptions are
// listed one by one in its test.
//
// It also proves that images are read as Docker reads them. It has no code, only
// tests, which compare with the library for that and the defaulting functions of
// k8s.io/kubernetes itself.
package defaults
