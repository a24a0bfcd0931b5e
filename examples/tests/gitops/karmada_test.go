// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
)

// Karmada reads these kinds in the versions of OpenKruise 1.4. It reads the number of pods, which it divides among clusters,
// and the pod template, in which it finds what has to be propagated along. It adds up the counters of the status. Each field
// has to be there, in a version that is served, and each counter has to be a number. Its own scripts are not run here.
func TestKarmada(t *testing.T) {
	const divided, propagated = "spec.replicas: integer", "spec.template: any"
	for _, test := range []struct {
		crd, version string
		fields       []string
	}{
		{"clonesets.apps.kruise.io", "v1alpha1", []string{divided, propagated, "status.observedGeneration: integer",
			"status.replicas: integer", "status.readyReplicas: integer", "status.availableReplicas: integer", "status.updatedReplicas: integer",
			"status.updatedReadyReplicas: integer", "status.expectedUpdatedReplicas: integer",
			"status.updateRevision: string", "status.currentRevision: string", "status.labelSelector: string"}},
		{"statefulsets.apps.kruise.io", "v1beta1", []string{divided, propagated, "status.observedGeneration: integer",
			"status.replicas: integer", "status.readyReplicas: integer", "status.currentReplicas: integer", "status.updatedReplicas: integer",
			"status.availableReplicas: integer", "status.updatedReadyReplicas: integer",
			"status.updateRevision: string", "status.currentRevision: string", "status.labelSelector: string"}},
		{"daemonsets.apps.kruise.io", "v1alpha1", []string{propagated, "status.observedGeneration: integer",
			"status.currentNumberScheduled: integer", "status.numberMisscheduled: integer", "status.desiredNumberScheduled: integer", "status.numberReady: integer",
			"status.updatedNumberScheduled: integer", "status.numberAvailable: integer", "status.numberUnavailable: integer", "status.daemonSetHash: string"}},
		{"broadcastjobs.apps.kruise.io", "v1alpha1", []string{propagated,
			"status.active: integer", "status.succeeded: integer", "status.failed: integer", "status.desired: integer", "status.phase: string"}},
		{"advancedcronjobs.apps.kruise.io", "v1alpha1", []string{"spec.template.jobTemplate: object", "spec.template.broadcastJobTemplate: object",
			"status.active: array", "status.lastScheduleTime: string", "status.type: string"}},
		{"sidecarsets.apps.kruise.io", "v1alpha1", []string{"spec.containers: array", "spec.initContainers: array", "spec.volumes: any", "status.observedGeneration: integer",
			"status.matchedPods: integer", "status.updatedPods: integer", "status.readyPods: integer", "status.updatedReadyPods: integer"}},
		{"uniteddeployments.apps.kruise.io", "v1alpha1", []string{divided, "spec.template: object", "status.observedGeneration: integer",
			"status.replicas: integer", "status.readyReplicas: integer", "status.updatedReplicas: integer", "status.updatedReadyReplicas: integer",
			"status.currentRevision: string", "status.subsetReplicas: object"}},
	} {
		schema := servedSchema(t, test.crd, test.version)
		for _, field := range test.fields {
			path, want, _ := strings.Cut(field, ": ")
			if got := typeOf(schema, path); got != want {
				t.Errorf("%s/%s: %s is of type %q, want %q", test.crd, test.version, path, got, want)
			}
		}
	}
}

// servedSchema is the schema of a version of a CRD that is served.
func servedSchema(t *testing.T, name, version string) map[string]any {
	t.Helper()
	for _, crd := range append(workloads.CRDs(), sidecar.CRDs()...) {
		if crd.GetName() != name {
			continue
		}
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, of := range versions {
			if of := of.(map[string]any); of["name"] == version && of["served"] == true {
				schema, _, _ := unstructured.NestedMap(of, "schema", "openAPIV3Schema")
				return schema
			}
		}
	}
	t.Fatalf("%s is not served in version %s", name, version)
	return nil
}

// typeOf is the type of a field in a schema. It is any if the API server keeps whatever is there, and empty if there is no such
// field.
func typeOf(schema map[string]any, path string) string {
	for _, field := range strings.Split(path, ".") {
		schema, _, _ = unstructured.NestedMap(schema, "properties", field)
	}
	if of, found, _ := unstructured.NestedString(schema, "type"); found {
		return of
	}
	if kept, _, _ := unstructured.NestedBool(schema, "x-kubernetes-preserve-unknown-fields"); kept {
		return "any"
	}
	return ""
}
