// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// parseSet decodes a StatefulSet.
func parseSet(t testing.TB, text string) *v1beta1.StatefulSet {
	t.Helper()
	set := &v1beta1.StatefulSet{}
	if err := json.Unmarshal([]byte(text), set); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return set
}

func TestDefaultOfSpec(t *testing.T) {
	const (
		numbers   = `"replicas":1,"revisionHistoryLimit":10,`
		policy    = `"podManagementPolicy":"OrderedReady",`
		rolling   = `"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1,"podUpdatePolicy":"ReCreate","minReadySeconds":0}},`
		retention = `"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}`
	)
	for _, tt := range []struct{ name, in, want string }{
		{"STS-V1: every field open", `{}`, `{` + numbers + policy + rolling + retention + `}`},
		{"spec.replicas: 0 stays", `{"replicas":0}`, `{"replicas":0,"revisionHistoryLimit":10,` + policy + rolling + retention + `}`},
		{"spec.revisionHistoryLimit: 0 stays", `{"revisionHistoryLimit":0}`, `{"replicas":1,"revisionHistoryLimit":0,` + policy + rolling + retention + `}`},
		{"spec.podManagementPolicy: Parallel stays", `{"podManagementPolicy":"Parallel"}`, `{` + numbers + `"podManagementPolicy":"Parallel",` + rolling + retention + `}`},
		{"spec.updateStrategy.type: OnDelete gets no rollingUpdate", `{"updateStrategy":{"type":"OnDelete"}}`,
			`{` + numbers + policy + `"updateStrategy":{"type":"OnDelete"},` + retention + `}`},
		{"spec.updateStrategy.rollingUpdate: what is open is filled", `{"updateStrategy":{"rollingUpdate":{"partition":2,"paused":true}}}`,
			`{` + numbers + policy + `"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2,"paused":true,"maxUnavailable":1,"podUpdatePolicy":"ReCreate","minReadySeconds":0}},` + retention + `}`},
		{"spec.updateStrategy.rollingUpdate: what is set stays",
			`{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":3,"maxUnavailable":"50%","podUpdatePolicy":"InPlaceOnly","minReadySeconds":9,"unorderedUpdate":{},"inPlaceUpdateStrategy":{"gracePeriodSeconds":5}}}}`,
			`{` + numbers + policy + `"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":3,"maxUnavailable":"50%","podUpdatePolicy":"InPlaceOnly","minReadySeconds":9,"unorderedUpdate":{},"inPlaceUpdateStrategy":{"gracePeriodSeconds":5}}},` + retention + `}`},
		{"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy: stays nil", `{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}}}`,
			`{` + numbers + policy + `"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1,"podUpdatePolicy":"InPlaceIfPossible","minReadySeconds":0}},` + retention + `}`},
		{"spec.scaleStrategy: no limit", `{"scaleStrategy":{}}`, `{"scaleStrategy":{},` + numbers + policy + rolling + retention + `}`},
		{"spec.persistentVolumeClaimRetentionPolicy: the other half is filled", `{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}}`,
			`{` + numbers + policy + rolling + `"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Delete"}}`},
		{"spec.persistentVolumeClaimRetentionPolicy: what is set stays", `{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Delete"}}`,
			`{` + numbers + policy + rolling + `"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Delete"}}`},
		{"spec.volumeClaimTemplates: upstream defaults", `{"volumeClaimTemplates":[{"metadata":{"name":"data"}}]}`,
			`{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}],` + numbers + policy + rolling + retention + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, want := parseSet(t, `{"spec":`+tt.in+`}`), parseSet(t, `{"spec":`+tt.want+`}`)
			statefulset.Default(got, nil, statefulset.DefaultOptions{})
			got.Spec.Template = corev1.PodTemplateSpec{} // see TestDefaultOfTemplate
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Default (-want +got):\n%s", diff)
			}
			twice := got.DeepCopy()
			statefulset.Default(twice, nil, statefulset.DefaultOptions{TemplateNoDefaults: true})
			if diff := cmp.Diff(got, twice); diff != "" {
				t.Errorf("the second Default changes something (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestDefaultOfTemplate(t *testing.T) {
	conformance.CheckTemplateDefaults(t, func(set, old *v1beta1.StatefulSet, off bool) {
		statefulset.Default(set, old, statefulset.DefaultOptions{TemplateNoDefaults: off})
	})
}

func ExampleDefault() {
	set := &v1beta1.StatefulSet{}
	statefulset.Default(set, nil, statefulset.DefaultOptions{})
	fmt.Println(*set.Spec.Replicas, set.Spec.PodManagementPolicy, set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, set.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted)
	// Output: 1 OrderedReady 1 Retain
}
