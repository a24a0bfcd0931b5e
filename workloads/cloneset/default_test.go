// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// parseSet decodes a CloneSet.
func parseSet(t testing.TB, text string) *v1alpha1.CloneSet {
	t.Helper()
	set := &v1alpha1.CloneSet{}
	if err := json.Unmarshal([]byte(text), set); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return set
}

func TestDefaultOfSpec(t *testing.T) {
	const strategy = `"updateStrategy":{"type":"ReCreate","partition":0,"maxUnavailable":"20%","maxSurge":0}`
	for _, tt := range []struct{ name, in, want string }{
		{"every field open", `{}`, `{"replicas":1,"revisionHistoryLimit":10,` + strategy + `}`},
		{"spec.replicas: 0 stays", `{"replicas":0}`, `{"replicas":0,"revisionHistoryLimit":10,` + strategy + `}`},
		{"spec.revisionHistoryLimit: 0 stays", `{"revisionHistoryLimit":0}`, `{"replicas":1,"revisionHistoryLimit":0,` + strategy + `}`},
		{"spec.scaleStrategy.maxUnavailable: no limit", `{"scaleStrategy":{"podsToDelete":["a"]}}`,
			`{"replicas":1,"revisionHistoryLimit":10,"scaleStrategy":{"podsToDelete":["a"]},` + strategy + `}`},
		{"spec.updateStrategy: what is set stays", `{"updateStrategy":{"type":"InPlaceOnly","partition":"10%","maxUnavailable":0,"maxSurge":"50%","inPlaceUpdateStrategy":{"gracePeriodSeconds":9}}}`,
			`{"replicas":1,"revisionHistoryLimit":10,"updateStrategy":{"type":"InPlaceOnly","partition":"10%","maxUnavailable":0,"maxSurge":"50%","inPlaceUpdateStrategy":{"gracePeriodSeconds":9}}}`},
		{"spec.updateStrategy.inPlaceUpdateStrategy: {} for InPlaceIfPossible", `{"updateStrategy":{"type":"InPlaceIfPossible"}}`,
			`{"replicas":1,"revisionHistoryLimit":10,"updateStrategy":{"type":"InPlaceIfPossible","partition":0,"maxUnavailable":"20%","maxSurge":0,"inPlaceUpdateStrategy":{}}}`},
		{"spec.updateStrategy.inPlaceUpdateStrategy: {} for InPlaceOnly", `{"updateStrategy":{"type":"InPlaceOnly"}}`,
			`{"replicas":1,"revisionHistoryLimit":10,"updateStrategy":{"type":"InPlaceOnly","partition":0,"maxUnavailable":"20%","maxSurge":0,"inPlaceUpdateStrategy":{}}}`},
		{"spec.volumeClaimTemplates: upstream defaults", `{"volumeClaimTemplates":[{"metadata":{"name":"data"}}]}`,
			`{"replicas":1,"revisionHistoryLimit":10,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}],` + strategy + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, want := parseSet(t, `{"spec":`+tt.in+`}`), parseSet(t, `{"spec":`+tt.want+`}`)
			cloneset.Default(got, nil, cloneset.DefaultOptions{})
			got.Spec.Template = corev1.PodTemplateSpec{} // see TestDefaultOfTemplate
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Default (-want +got):\n%s", diff)
			}
		})
	}
}

// CS-V1: templates get the defaults of the API server.
func TestDefaultOfTemplate(t *testing.T) {
	conformance.CheckTemplateDefaults(t, func(set, old *v1alpha1.CloneSet, off bool) {
		cloneset.Default(set, old, cloneset.DefaultOptions{TemplateNoDefaults: off})
	})
}

func ExampleDefault() {
	set := &v1alpha1.CloneSet{}
	set.Spec.UpdateStrategy.Type = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	cloneset.Default(set, nil, cloneset.DefaultOptions{})
	fmt.Println(*set.Spec.Replicas, set.Spec.UpdateStrategy.MaxUnavailable, set.Spec.Template.Spec.RestartPolicy)
	// Output: 1 20% Always
}
