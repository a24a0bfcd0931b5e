// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Users who write the spec, the status and the pods all the time make the manager's writes conflict. It gets through, within
// the budget, and the status is right when they stop.
func TestUsersFightOverEverything(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 6, strategy(inPlace, 2)))
	before := s.owned("web")
	s.expect("web", 4, 6)
	s.edit("web", image("web:2"))
	var users sync.WaitGroup
	sets := s.workloads.CloneSets(s.Namespace)
	again := func(write func(i int) error) {
		users.Go(func() {
			for i := range 40 {
				// A busy API server may also leave a write unanswered.
				if err := write(i); err != nil && !apierrors.IsConflict(err) && !apierrors.IsTimeout(err) {
					s.Errorf("a user's write: expected no error, observed %v", err)
				}
			}
		})
	}
	again(func(i int) error {
		_, err := sets.Patch(s.Context(), "web", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"minReadySeconds":%d}}`, i%2), metav1.PatchOptions{})
		return err
	})
	again(func(i int) error {
		_, err := sets.Patch(s.Context(), "web", types.MergePatchType,
			fmt.Appendf(nil, `{"status":{"replicas":%d,"updatedReplicas":99,"conditions":[{"type":"FailedScale","status":"True","message":"tampered"}]}}`, i), metav1.PatchOptions{}, "status")
		return err
	})
	again(func(i int) error {
		pod := before[i%len(before)]
		_, err := s.Core.CoreV1().Pods(s.Namespace).Patch(s.Context(), pod.Name, types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/count":"%d"}}}`, i), metav1.PatchOptions{})
		return err
	})
	again(func(i int) error {
		_, err := s.Core.CoreV1().Pods(s.Namespace).Patch(s.Context(), before[i%len(before)].Name, types.StrategicMergePatchType,
			fmt.Appendf(nil, `{"status":{"conditions":[{"type":"example.com/seen","status":"True","message":"%d"}]}}`, i), metav1.PatchOptions{}, "status")
		return err
	})
	users.Wait()
	s.edit("web", func(set *v1alpha1.CloneSet) { set.Spec.MinReadySeconds = 0 }, func(set *v1alpha1.CloneSet) {
		set.Annotations = map[string]string{"example.com/last": "word"}
	})
	s.awaitSettled("web")
	s.awaitStatus("web", "no condition", func(set *v1alpha1.CloneSet) string {
		if len(set.Status.Conditions) > 0 {
			return fmt.Sprintf("%+v", set.Status.Conditions)
		}
		return ""
	})
	s.keptBudget("web")
	s.updatedOnce(before, inPlace)
}

// The status is a subresource: what is written into it with the spec is ignored, and a status write leaves the spec alone.
func TestStatusIsASubresource(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	given := cloneSet("web", 1)
	given.Status = v1alpha1.CloneSetStatus{Replicas: 77, CurrentRevision: "made-up"}
	if stored := s.create(given); stored.Status.Replicas != 0 || stored.Status.CurrentRevision != "" {
		s.Errorf("expected an empty status after the creation, observed %+v", stored.Status)
	}
	s.awaitSettled("web")
	settled := s.set("web")
	s.edit("web", func(set *v1alpha1.CloneSet) {
		set.Status = v1alpha1.CloneSetStatus{Replicas: 77, CurrentRevision: "made-up"}
		set.Spec.MinReadySeconds = 1
	})
	s.awaitSettled("web")
	stored := s.set("web")
	if stored.Status.Replicas != 1 || stored.Status.CurrentRevision != settled.Status.CurrentRevision || stored.Generation != settled.Generation+1 {
		s.Errorf("expected the status to stay and the generation %d, observed %d and %+v", settled.Generation+1, stored.Generation, stored.Status)
	}
}

// A newer API server, or a user with a newer manifest, stores fields that the manager does not know. No write of the manager
// takes them away, and they roll nothing.
func TestUnknownFieldsAreKept(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	sets := s.Dynamic.Resource(cloneSets).Namespace(s.Namespace)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet",
		"metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"replicas":       int64(2),
			"selector":       map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"updateStrategy": map[string]any{"type": "InPlaceIfPossible", "maxUnavailable": int64(1)},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec": map[string]any{"futureMode": "warp", "containers": []any{
					map[string]any{"name": "main", "image": "web:1", "futureField": map[string]any{"a": int64(1)}},
					map[string]any{"name": "side", "image": "proxy:1"},
				}},
			},
		},
	}}
	if _, err := sets.Create(s.Context(), object, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create: expected no error, observed %v", err)
	}
	s.awaitSettled("web")
	s.keepsUnknownFields("created and defaulted", 1)
	if template := s.set("web").Spec.Template.Spec; template.Containers[0].ImagePullPolicy == "" || template.RestartPolicy == "" {
		s.Errorf("expected defaults beside the unknown fields, observed %+v", template)
	}

	victim := s.owned("web")[0]
	s.merge(`{"spec":{"scaleStrategy":{"podsToDelete":["` + victim.Name + `"]}}}`)
	s.AwaitGone(victim, "CS-4: marked by name")
	s.awaitPruned("web")
	s.awaitSettled("web")
	s.keepsUnknownFields("pruned", 1)

	before := s.owned("web")
	s.merge(`{"spec":{"template":{"spec":{"futureMode":"hyper"}}}}`)
	s.awaitSettled("web")
	if len(s.Revisions.All()) != 1 {
		s.Errorf("CS-E19: expected an unknown field to roll nothing, observed the revisions %v", testbed.Names(s.Revisions.All()))
	}
	if _, err := sets.Patch(s.Context(), "web", types.JSONPatchType,
		[]byte(`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"web:2"}]`), metav1.PatchOptions{}); err != nil {
		s.Fatalf("change the image: %v", err)
	}
	s.awaitSettled("web")
	s.keepsUnknownFields("updated in place", 1)
	s.unmoved(before, "web")
	s.restarted("web", "main", "web:2", 1)
}

func (s *cloneSetFixture) merge(patch string) {
	s.Helper()
	if _, err := s.Dynamic.Resource(cloneSets).Namespace(s.Namespace).Patch(s.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.Fatalf("patch CloneSet web with %s: %v", patch, err)
	}
}

func (s *cloneSetFixture) keepsUnknownFields(after string, value int64) {
	s.Helper()
	set, err := s.Dynamic.Resource(cloneSets).Namespace(s.Namespace).Get(s.Context(), "web", metav1.GetOptions{})
	if err != nil {
		s.Fatalf("get CloneSet web: %v", err)
	}
	containers, _, _ := unstructured.NestedSlice(set.Object, "spec", "template", "spec", "containers")
	first, _ := containers[0].(map[string]any)
	got, _, _ := unstructured.NestedInt64(first, "futureField", "a")
	mode, _, _ := unstructured.NestedString(set.Object, "spec", "template", "spec", "futureMode")
	if got != value || mode == "" {
		s.Errorf("%s: expected spec.template.spec.containers[0].futureField.a=%d and spec.template.spec.futureMode, observed %v", after, value, set.Object["spec"])
	}
}
