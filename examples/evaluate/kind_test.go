package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestKindOf(t *testing.T) {
	for flag, want := range map[string]*kind{"cloneset": &cloneSets, "StatefulSet": &statefulSets, "pod": nil, "": nil} {
		if got := kindOf(flag); got != want {
			t.Errorf("%q: got %v, want %v", flag, got, want)
		}
	}
}

// A kind plans for its own objects only.
func TestForeignObject(t *testing.T) {
	for _, k := range kinds {
		if got := k.observe(nil, belongings{}); got != nil {
			t.Errorf("%s: got %+v, want nothing", k.name, got)
		}
	}
}

// What the checks expect is what the manifests say.
func TestManifest(t *testing.T) {
	for _, k := range kinds {
		w := newWorld(t, k)
		main := decodedContainer(t, k)
		if w.object.GetName() != setName || *w.parts().replicas != replicas || main != [2]string{container, oldImage} {
			t.Errorf("%s: the manifest and the constants differ: %+v", k.name, w.object)
		}
	}
	limit := intstr.FromInt32(maxUnavailable)
	clones := newWorld(t, &cloneSets).object.(*v1alpha1.CloneSet).Spec.UpdateStrategy
	if clones.Type != v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType || *clones.MaxUnavailable != limit {
		t.Errorf("CloneSet: update strategy %+v", clones)
	}
	stateful := newWorld(t, &statefulSets).object.(*v1beta1.StatefulSet).Spec.UpdateStrategy.RollingUpdate
	if stateful.PodUpdatePolicy != v1beta1.InPlaceIfPossiblePodUpdateStrategyType || *stateful.MaxUnavailable != limit {
		t.Errorf("StatefulSet: update strategy %+v", stateful)
	}
}

func decodedContainer(t *testing.T, k *kind) [2]string {
	w := &world{kind: k, object: decode(t, k, k.manifest)}
	main := w.parts().template.Spec.Containers[0]
	return [2]string{main.Name, main.Image}
}

func TestSettled(t *testing.T) {
	half := updated(5)
	cases := map[string]struct {
		edit func(*state)
		want bool
	}{
		"all is well":                            {func(*state) {}, true},
		"changed again by somebody":              {func(s *state) { s.object.SetGeneration(4); s.observed = 4 }, true},
		"the cache has not seen the change":      {func(s *state) { s.object.SetGeneration(2); s.observed = 2 }, false},
		"the controller has not seen the change": {func(s *state) { s.observed = 2 }, false},
		"a pod too many":                         {func(s *state) { s.status.all = 11 }, false},
		"a pod is not available":                 {func(s *state) { s.status.available = 9 }, false},
		"too few are updated":                    {func(s *state) { s.status.updated, s.status.updatedReady = 4, 4 }, false},
		"an updated pod is not ready":            {func(s *state) { s.status.updatedReady = 4 }, false},
		"the plan goes on":                       {func(s *state) { s.todo.change = 1 }, false},
	}
	for name, c := range cases {
		set := &v1alpha1.CloneSet{}
		set.Generation = 3
		s := &state{object: set, observed: 3, status: half}
		c.edit(s)
		if got := s.settled(3, half); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

// The state holds the figures of the status, by their right names.
func TestState(t *testing.T) {
	for _, k := range kinds {
		w := newWorld(t, k)
		switch object := w.object.(type) {
		case *v1alpha1.CloneSet:
			object.Status = v1alpha1.CloneSetStatus{ObservedGeneration: 5, Replicas: 4, AvailableReplicas: 3, UpdatedReplicas: 2, UpdatedReadyReplicas: 1}
		case *v1beta1.StatefulSet:
			object.Status = v1beta1.StatefulSetStatus{ObservedGeneration: 5, Replicas: 4, AvailableReplicas: 3, UpdatedReplicas: 2, UpdatedReadyReplicas: 1}
		}
		s := w.observe()
		if diff := cmp.Diff(counts{4, 3, 2, 1}, s.status, cmp.AllowUnexported(counts{})); diff != "" || s.observed != 5 {
			t.Errorf("%s: observed generation %d, counts (-want +got):\n%s", k.name, s.observed, diff)
		}
		if (s.todo != todo{}) {
			t.Errorf("%s: got %+v, want nothing to do for pods that are as they should be", k.name, s.todo)
		}
		w.pods = w.pods[1:]
		if got := w.observe().todo; got.create != 1 {
			t.Errorf("%s: got %+v, want a pod to create where one is missing", k.name, got)
		}
	}
}
