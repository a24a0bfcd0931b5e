// SPDX-License-Identifier: Apache-2.0

// Package admission serves the webhooks of the API server over HTTP.
//
// The webhooks of a kind are a Kind: the functions that set defaults and find
// errors, to which it adds all the rest.
//
// Beneath, an admission webhook is a Func, which sees a request and answers it.
// Handler speaks the protocol around it (AdmissionReview of admission.k8s.io/v1);
// Allowed, Validated, Errored and Patched make the answers.
//
// Patched keeps fields that the Go types do not know, so that a webhook built
// with old types does no harm to manifests that use newer ones.
//
// A conversion webhook is a ConvertFunc, which turns one JSON document into
// another. ConversionHandler speaks the protocol around it (ConversionReview of
// apiextensions.k8s.io/v1).
package admission
