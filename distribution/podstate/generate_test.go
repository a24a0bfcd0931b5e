// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// asks is a workload with these annotations: auto, required, preferred and those of pods.
func asks(auto, required, preferred, annotations string) *podstate.Workload {
	return newWorkload(3, func(w *podstate.Workload) {
		w.Annotations = map[string]string{
			v1alpha1.AutoGeneratePersistentPodStateAnnotation: auto, v1alpha1.RequiredPersistentTopologyAnnotation: required,
			v1alpha1.PreferredPersistentTopologyAnnotation: preferred, v1alpha1.PersistentPodAnnotationsAnnotation: annotations,
		}
	})
}

var generatedBy = []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: "web", Controller: ptr.To(true)}}

func generated(s *v1alpha1.PersistentPodState) { s.OwnerReferences = generatedBy }

func saves(keys ...string) func(*v1alpha1.PersistentPodState) {
	return func(s *v1alpha1.PersistentPodState) {
		for _, key := range keys {
			s.Spec.PersistentPodAnnotations = append(s.Spec.PersistentPodAnnotations, v1alpha1.PersistentPodAnnotation{Key: key})
		}
	}
}

// PPS-21 to PPS-23: what annotations of a workload ask for.
func TestGenerate(t *testing.T) {
	create := func(changes ...func(*v1alpha1.PersistentPodState)) podstate.Generated {
		s := newState(changes...)
		s.OwnerReferences, s.Generation = generatedBy, 0
		return podstate.Generated{Create: s}
	}
	update := func(changes ...func(*v1alpha1.PersistentPodState)) podstate.Generated {
		return podstate.Generated{Update: &newState(changes...).Spec}
	}
	older := func(s *v1alpha1.PersistentPodState) {
		s.Spec.TargetReference.APIVersion = "apps.kruise.io/v1alpha1"
	}
	elsewhere := func(s *v1alpha1.PersistentPodState) { s.Spec.TargetReference.Name = "db" }
	ending := func(s *v1alpha1.PersistentPodState) { s.DeletionTimestamp = &metav1.Time{Time: start} }
	deleting := asks("true", host, "", "")
	deleting.Deleting = true
	for _, test := range []struct {
		name     string
		workload *podstate.Workload
		existing *v1alpha1.PersistentPodState
		want     podstate.Generated
	}{
		{"PPS-21: required", asks("true", host, "", ""), nil, create(requires(host))},
		{"PPS-21: preferred", asks("true", "", host+","+zone, ""), nil, create(prefers(100, host, zone))},
		{"PPS-21: all", asks("true", zone, host, "a,b"), nil, create(requires(zone), prefers(100, host), saves("a", "b"))},
		{"PPS-21: spaces, and nothing between commas", asks("true", " "+zone+" ,, "+host, "", " a ,"), nil, create(requires(zone, host), saves("a"))},
		{"PPS-21: not asked for", asks("", host, "", ""), nil, podstate.Generated{}},
		{"PPS-21: another word", asks("True", host, "", ""), nil, podstate.Generated{}},
		{"PPS-21: as it is", asks("true", host, "", ""), newState(requires(host), generated), podstate.Generated{}},
		{"PPS-21: the workload goes", deleting, nil, podstate.Generated{}},
		{"PPS-22: other keys", asks("true", zone, "", "a"), newState(requires(host), generated), update(requires(zone), saves("a"))},
		{"PPS-22: made by hand", asks("true", zone, "", ""), newState(requires(host)), update(requires(zone))},
		{"PPS-22: its policy and version stay", asks("true", zone, "", ""), newState(requires(host), whenDeleted, older, generated), update(requires(zone), whenDeleted, older)},
		{"PPS-22: no topology", asks("true", " , ", "", "a"), newState(requires(host), generated), podstate.Generated{}},
		{"PPS-22: of another workload", asks("true", host, "", ""), newState(requires(host), elsewhere), podstate.Generated{Problem: "PersistentPodState web exists and names another workload, StatefulSet db: " +
			"delete it, or remove the annotation kruise.io/auto-generate-persistent-pod-state"}},
		{"PPS-22: on its way out", asks("true", zone, "", ""), newState(requires(host), generated, ending), podstate.Generated{}},
		{"PPS-23: not asked for any more", asks("false", host, "", ""), newState(requires(host), generated), podstate.Generated{Delete: true}},
		{"PPS-23: made by hand", asks("false", host, "", ""), newState(requires(host)), podstate.Generated{}},
		{"PPS-23: nothing asked for", newWorkload(3), newState(requires(host)), podstate.Generated{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, podstate.Generate(test.workload, test.existing)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
