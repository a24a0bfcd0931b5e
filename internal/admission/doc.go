// Package admission serves admission webhooks over HTTP.
//
// A webhook is a Func, which sees a request and answers it. Handler speaks the
// protocol around it (AdmissionReview of admission.k8s.io/v1); Allowed,
// Validated, Forbidden, Errored and Patched make the answers.
//
// Patched keeps fields that the Go types do not know, so that a webhook built
// with old types does no harm to manifests that use newer ones.
package admission
