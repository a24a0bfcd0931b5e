// SPDX-License-Identifier: Apache-2.0

// Package admission serves the webhooks of the API server over HTTP.
//
// The webhooks of a kind are a Webhook: the functions that set defaults and find
// errors, to which it adds all the rest.
//
// Beneath, an admission webhook is a Func, which sees a request and answers it.
// Handler speaks the protocol around it (AdmissionReview of admission.k8s.io/v1);
// Allowed, Validated, Errored and Patched make the answers.
//
// Patched keeps fields that the Go types do not know. So a webhook built
// with old types does no harm to manifests that use newer ones.
//
// A conversion webhook is a ConvertFunc, which turns one JSON document into
// another. ConversionHandler speaks the protocol around it (ConversionReview of
// apiextensions.k8s.io/v1).
//
// Kinds that are served as v1alpha1 and v1beta1 are Conversions: tables of the fields in
// which the two versions differ. From one table follow the conversion of objects, and the
// webhook that a CRD names. So does the schema of v1beta1 if the CRD holds that of
// v1alpha1 alone. So they cannot differ. What a version has no field for travels in an
// annotation of the object, in the place that it has in the other version. Objects are
// JSON documents: what the table does not name is never looked at and passes unchanged.
//
// What is stored can always be read. An object that is converted from the
// version in which its kind is stored is converted whatever stands in the
// annotation. Else one bad object would keep clients from all objects of a list.
// In the other direction, which is that of writes, such an annotation is an
// error.
package admission
