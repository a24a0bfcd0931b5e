// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (PPS-33)
func TestVerdicts(t *testing.T) {
	const (
		needs  = "Required value: needs apiVersion, kind and name"
		fixed  = "\nspec.targetRef: Forbidden: cannot be modified"
		target = "spec.targetRef."
		never  = "a label that no node has is not recorded, and nothing is required of it"
		weight = "spec.preferredPersistentTopology[0].weight: Invalid value: "
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.PersistentPodState]{
		Valid: `
metadata: {namespace: shop, name: db}
spec:
  targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}
  requiredPersistentTopology: {nodeTopologyKeys: [topology.kubernetes.io/zone]}`,
		Create: func(s *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateCreate(s, nil) },
		Update: func(s, old *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateUpdate(s, old, nil) },
		Touch:  `{"persistentPodAnnotations":[{"key":"a"}]}`, Unasked: true,
	}, verdicts.Fields{
		"targetRef.apiVersion": {Cases: []verdicts.Case{{Value: `""`, Want: target + "apiVersion: " + needs, Change: target + "apiVersion: " + needs + fixed},
			{Value: `"a/b/c"`, Want: target + "apiVersion: Invalid value: \"a/b/c\"", Change: target + "apiVersion: Invalid" + fixed}}},
		"targetRef.kind": {Cases: []verdicts.Case{{Value: `""`, Want: target + "kind: " + needs, Change: target + "kind: " + needs + fixed},
			{Value: `"Deployment"`, Want: target + "kind: Invalid value: \"Deployment.apps\"", Change: target + "kind: Invalid" + fixed}}},
		"targetRef.name":                              {Works: "a workload that is not there may come", Cases: []verdicts.Case{{Value: `""`, Want: target + "name: " + needs, Change: target + "name: " + needs + fixed}}},
		"persistentPodAnnotations":                    {Works: "one that is there twice is kept once"},
		"persistentPodAnnotations[].key":              {Works: "an annotation that no pod has is not kept"},
		"requiredPersistentTopology.nodeTopologyKeys": {Works: "with none, annotations alone are kept; " + never, Cases: []verdicts.Case{{Value: `[]`}}},
		"preferredPersistentTopology": {Cases: []verdicts.Case{{Value: `[]`, With: `{"requiredPersistentTopology":null}`, Want: "spec: Required value: give requiredPersistentTopology, preferredPersistentTopology or both",
			Change: "spec: Required value"}}},
		"preferredPersistentTopology[].weight":                      {Cases: []verdicts.Case{{Value: `0`, Want: weight + "0: must be from 1 to 100", Stays: true}, {Value: `-1`, Want: weight + "-1: must be from 1 to 100", Stays: true}, {Value: `101`}}},
		"preferredPersistentTopology[].preference.nodeTopologyKeys": {Works: never},
		"persistentPodStateRetentionPolicy":                         {Works: "there are two, and any other word is read as WhenScaled, which forgets the most"},
	})
}
