package main

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// newFakeWorkload is a workload in a cluster in memory.
func newFakeWorkload(k *kind) *workload {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{k.resource: k.name + "List"})
	return &workload{k, k.name + " demo/web", client.Resource(k.resource).Namespace("demo")}
}

// The whole script fits the fields of its kind: no change makes one that is not
// known, and the image and the partition are in the end what they should be.
func TestScripts(t *testing.T) {
	for _, k := range kinds {
		s := newFakeWorkload(k)
		if _, err := s.create(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, act := range k.acts {
			for _, step := range act.steps {
				if _, err := s.change(t.Context(), step.changes); err != nil {
					t.Fatal(err)
				}
			}
		}
		stored, err := s.client.Get(t.Context(), setName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := stored.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		w := &world{kind: k, object: decode(t, k, data)}
		if got := w.parts().template.Spec.Containers[0].Image; got != newImage {
			t.Errorf("%s: ends with the image %s, want %s", k.name, got, newImage)
		}
		switch object := w.object.(type) {
		case *v1alpha1.CloneSet:
			if p := object.Spec.UpdateStrategy.Partition; p == nil || p.IntVal != 0 {
				t.Errorf("CloneSet: ends with the partition %v, want 0", p)
			}
		case *v1beta1.StatefulSet:
			if p := object.Spec.UpdateStrategy.RollingUpdate.Partition; p == nil || *p != 0 {
				t.Errorf("StatefulSet: ends with the partition %v, want 0", p)
			}
		}
	}
}

// Titles can be read on a terminal of 80 columns, with the time beside them.
func TestTitlesAreShort(t *testing.T) {
	for _, k := range kinds {
		steps := []step{k.create("default")}
		for _, act := range k.acts {
			steps = append(steps, act.steps...)
		}
		for _, s := range steps {
			for _, title := range []string{s.title, s.done} {
				if most := 79 - len("1/5  ") - len("  10.0 s"); title == "" || len(title) > most {
					t.Errorf("%s: title %q has %d characters, want 1 to %d", k.name, title, len(title), most)
				}
			}
		}
	}
}

// An error names what was to be written.
func TestWorkloadErrors(t *testing.T) {
	s := newFakeWorkload(&statefulSets)
	if _, err := s.change(t.Context(), []change{setImage(newImage)}); err == nil || !strings.HasPrefix(err.Error(), "changing StatefulSet demo/web: ") {
		t.Errorf("a change without a StatefulSet: got error %v", err)
	}
	if _, err := s.create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.create(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "creating StatefulSet demo/web: ") {
		t.Errorf("created twice: got error %v", err)
	}
}
