// Package conversion serves conversion webhooks over HTTP: the API server asks
// them to convert objects from one version of a CustomResourceDefinition to
// another.
//
// A converter is a Func, which turns one JSON document into another. Handler
// speaks the protocol around it (ConversionReview of apiextensions.k8s.io/v1).
package conversion
