// Package defaults proves that the defaults that podwright gives to pod
// templates and claim templates are those of Kubernetes, but for the
// differences that its test lists one by one.
//
// It has no code, only a test, which compares with the defaulting functions of
// k8s.io/kubernetes itself.
package defaults
