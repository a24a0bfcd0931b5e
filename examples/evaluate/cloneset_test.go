package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// What the checks expect is what the manifest says.
func TestManifest(t *testing.T) {
	set, err := createSet(t.Context(), fake.NewClient(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	main := set.Spec.Template.Spec.Containers[0]
	if set.Name != setName || *set.Spec.Replicas != replicas || *set.Spec.UpdateStrategy.MaxUnavailable != intstr.FromInt32(maxUnavailable) ||
		main.Name != container || main.Image != oldImage || set.Spec.UpdateStrategy.Type != v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType {
		t.Errorf("the manifest and the constants differ: %+v", set.Spec)
	}
}

func TestSettled(t *testing.T) {
	good := func() *v1alpha1.CloneSet {
		set := &v1alpha1.CloneSet{}
		set.Generation = 3
		set.Status = v1alpha1.CloneSetStatus{ObservedGeneration: 3, Replicas: 10, AvailableReplicas: 10, UpdatedReplicas: 5, UpdatedReadyReplicas: 5}
		return set
	}
	cases := map[string]struct {
		edit func(*v1alpha1.CloneSet)
		want bool
	}{
		"all is well":                            {func(*v1alpha1.CloneSet) {}, true},
		"changed again by somebody":              {func(s *v1alpha1.CloneSet) { s.Generation, s.Status.ObservedGeneration = 4, 4 }, true},
		"the cache has not seen the change":      {func(s *v1alpha1.CloneSet) { s.Generation, s.Status.ObservedGeneration = 2, 2 }, false},
		"the controller has not seen the change": {func(s *v1alpha1.CloneSet) { s.Status.ObservedGeneration = 2 }, false},
		"a pod too many":                         {func(s *v1alpha1.CloneSet) { s.Status.Replicas = 11 }, false},
		"a pod is not available":                 {func(s *v1alpha1.CloneSet) { s.Status.AvailableReplicas = 9 }, false},
		"too few are updated":                    {func(s *v1alpha1.CloneSet) { s.Status.UpdatedReplicas, s.Status.UpdatedReadyReplicas = 4, 4 }, false},
		"an updated pod is not ready":            {func(s *v1alpha1.CloneSet) { s.Status.UpdatedReadyReplicas = 4 }, false},
	}
	for name, c := range cases {
		set := good()
		c.edit(set)
		if got := settled(set, 3, 5); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}
