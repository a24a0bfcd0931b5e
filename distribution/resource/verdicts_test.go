// SPDX-License-Identifier: Apache-2.0

package resource_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (RD-23)
func TestVerdicts(t *testing.T) {
	const (
		source = `{"resource":{"data":null},"sourceRef":{"namespace":"shop","name":"tls"}}`
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.ResourceDistribution]{
		Valid: `
metadata: {name: tls}
spec:
  resource: {apiVersion: v1, kind: Secret, metadata: {name: tls}, data: {key: YQ==}}
  targets: {allNamespaces: true}`,
		Create: resource.ValidateCreate, Update: resource.ValidateUpdate, Touch: `{"targets":{"allNamespaces":false}}`,
	}, verdicts.Fields{
		"resource": {Works: "the rest the API server says, and the conditions name the namespaces that have no copy", Cases: []verdicts.Case{
			{Value: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"tls"}}`, Want: "spec.resource: Invalid value: unknown or unsupported resource GroupKind"},
			{Value: `{"apiVersion":"v1","kind":"Secret"}`, Want: "spec.resource.metadata.name: Required value"},
			{Value: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"Not_One"}}`, Want: "spec.resource.metadata.name: Invalid value: \"Not_One\""},
			{Value: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"tls"}}`, Change: "spec.resource: Forbidden: resource apiVersion, kind, and name are immutable"},
			{Value: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"tls"},"data":{"a/b":"YQ=="}}`, Want: "spec.resource.data[a/b]: Invalid value: \"a/b\"", Stays: true},
			{Value: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"tls","labels":{"not a key":"b"}}}`, Want: "spec.resource.metadata.labels: Invalid value: \"not a key\"", Stays: true},
			{Value: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"tls","annotations":{"not a key":"b"}}}`, Want: "spec.resource.metadata.annotations: Invalid value: \"not a key\"", Stays: true}}},
		"targets.allNamespaces":           {Works: "true and false both do what they say; where nothing else names one, false is no namespace, and the status says 0"},
		"targets.excludedNamespaces.list": {Cases: []verdicts.Case{{Value: `[{"name":"a"}]`, With: `{"targets":{"includedNamespaces":{"list":[{"name":"a"}]}}}`, Want: "spec.targets: Invalid value: [\"a\"]: ambiguous targets"}}},
		"targets.excludedNamespaces.list[].name": {Works: "a namespace that is not there may come", Cases: []verdicts.Case{
			{Value: `"Not_One"`, Want: "spec.targets.excludedNamespaces.list[0].name: Invalid value: \"Not_One\""}}},
		"targets.includedNamespaces.list": {Works: "one that is there twice has one copy"},
		"targets.includedNamespaces.list[].name": {Works: "a namespace that is not there may come, and is reported until then", Cases: []verdicts.Case{
			{Value: `"Not_One"`, Want: "spec.targets.includedNamespaces.list[0].name: Invalid value: \"Not_One\""}}},
		"targets.namespaceLabelSelector": {Works: "one that selects none copies to those that come", Cases: []verdicts.Case{{Value: `{}`},
			{Value: `{"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: "spec.targets.namespaceLabelSelector.matchExpressions[0].values: Required value"}}},
		"sourceRef.namespace": {Works: "of a source that is not there a condition says so", Cases: []verdicts.Case{{Value: `"Not_One"`, With: source, Want: "spec.sourceRef.namespace: Invalid value: \"Not_One\""}}},
		"sourceRef.name": {Cases: []verdicts.Case{{Value: `"Not_One"`, With: source, Want: "spec.sourceRef.name: Invalid value: \"Not_One\""},
			{Value: `"tls"`, With: `{"sourceRef":{"namespace":"shop"}}`, Want: "spec.resource: Forbidden: it must have no content beside spec.sourceRef"}}},
	})
}
