// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func decodeJSON(data []byte, into any) error { return json.Unmarshal(data, into) }

// remove deletes the pod web and returns the answer.
func (f *fixture) remove(options metav1.DeleteOptions) *corev1.Pod {
	f.t.Helper()
	pod := &corev1.Pod{}
	if err := f.kube.CoreV1().RESTClient().Delete().Namespace("shop").Resource("pods").Name("web").Body(&options).Do(f.t.Context()).Into(pod); err != nil {
		f.t.Fatal(err)
	}
	return pod
}

func TestDelete(t *testing.T) {
	zero := int64(0)
	t.Run("a pod without node goes at once; the answer has the resourceVersion of the deletion", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		if gone := f.remove(metav1.DeleteOptions{}); gone.ResourceVersion != "3" {
			t.Errorf("resourceVersion %s, want 3", gone.ResourceVersion)
		}
		_, err := f.get("web")
		wantError(t, err, apierrors.IsNotFound)
	})
	t.Run("a pod on a node stays until it is deleted with grace 0", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		f.bind("web")
		f.remove(metav1.DeleteOptions{})
		pod := must(f.get("web"))(t)
		if !pod.DeletionTimestamp.Time.Equal(noon.Add(30*time.Second)) || *pod.DeletionGracePeriodSeconds != 30 {
			t.Errorf("deleted at %v after %d s", pod.DeletionTimestamp, *pod.DeletionGracePeriodSeconds)
		}
		if again := f.remove(metav1.DeleteOptions{}); again.ResourceVersion != pod.ResourceVersion {
			t.Errorf("the second deletion changed the pod")
		}
		f.remove(metav1.DeleteOptions{GracePeriodSeconds: &zero})
		_, err := f.get("web")
		wantError(t, err, apierrors.IsNotFound)
	})
	t.Run("a pod that has ended goes at once", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		f.bind("web")
		must(f.patch(types.MergePatchType, `{"status":{"phase":"Failed"}}`, "status"))(t)
		f.remove(metav1.DeleteOptions{})
		_, err := f.get("web")
		wantError(t, err, apierrors.IsNotFound)
	})
	t.Run("an eviction deletes the pod that it is about", func(t *testing.T) {
		f := newFixture(t)
		pod := f.pod()
		evict := func(options *metav1.DeleteOptions) error {
			return f.kube.CoreV1().Pods("shop").EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web"}, DeleteOptions: options})
		}
		wantError(t, evict(metav1.NewPreconditionDeleteOptions("other")), apierrors.IsConflict)
		if err := evict(&metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Errorf("a dry run: %v", err)
		}
		must(f.get("web"))(t)
		if err := evict(metav1.NewPreconditionDeleteOptions(string(pod.UID))); err != nil {
			t.Error(err)
		}
		_, err := f.get("web")
		wantError(t, err, apierrors.IsNotFound)
		wantError(t, evict(nil), apierrors.IsNotFound)
	})
	t.Run("a dry run deletes nothing", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		f.remove(metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		must(f.get("web"))(t)
	})
	t.Run("finalizers hold an object, and none can be added any more", func(t *testing.T) {
		f := newFixture(t)
		f.pod(func(p *corev1.Pod) { p.Finalizers = []string{"x.io/f"} })
		f.remove(metav1.DeleteOptions{})
		if must(f.get("web"))(t).DeletionTimestamp == nil {
			t.Error("the pod is not being deleted")
		}
		_, err := f.patch(types.MergePatchType, `{"metadata":{"finalizers":["x.io/f","x.io/g"]}}`)
		wantError(t, err, apierrors.IsInvalid)
		must(f.patch(types.MergePatchType, `{"metadata":{"finalizers":null}}`))(t)
		_, err = f.get("web")
		wantError(t, err, apierrors.IsNotFound)
	})
	t.Run("garbage goes when all its owners are gone", func(t *testing.T) {
		f := newFixture(t)
		set := must(f.sets.Create(t.Context(), cloneSet(), metav1.CreateOptions{}))(t)
		f.pod(func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: set.UID}}
		})
		if n := f.CollectGarbage(); n != 0 {
			t.Errorf("%d objects collected while the owner is there", n)
		}
		if err := f.sets.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := f.CollectGarbage(); n != 1 {
			t.Errorf("%d objects collected, want 1", n)
		}
	})
	t.Run("an owner that is gone leaves what another one keeps", func(t *testing.T) {
		f := newFixture(t)
		set := must(f.sets.Create(t.Context(), cloneSet(), metav1.CreateOptions{}))(t)
		keeps := metav1.OwnerReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: set.UID}
		f.pod(func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "former", UID: "former"}, keeps}
		})
		if n := f.CollectGarbage(); n != 1 {
			t.Errorf("%d objects collected, want 1", n)
		}
		if diff := cmp.Diff([]metav1.OwnerReference{keeps}, must(f.get("web"))(t).OwnerReferences); diff != "" {
			t.Errorf("owners (-want +got):\n%s", diff)
		}
	})
	for _, test := range []struct {
		policy metav1.DeletionPropagation
		rounds int
		owners int // of the pod, -1: it is gone
	}{
		{metav1.DeletePropagationForeground, 3, -1}, // the pod begins to go, the kubelet ends it, the owner goes
		{metav1.DeletePropagationOrphan, 1, 0},
	} {
		t.Run(fmt.Sprintf("propagation %s", test.policy), func(t *testing.T) {
			f := newFixture(t)
			set := must(f.sets.Create(t.Context(), cloneSet(), metav1.CreateOptions{}))(t)
			f.pod(func(p *corev1.Pod) {
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, v1alpha1.SchemeGroupVersion.WithKind("CloneSet"))}
			})
			f.bind("web")
			if err := f.sets.Delete(t.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &test.policy}); err != nil {
				t.Fatal(err)
			}
			if _, err := f.sets.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
				t.Errorf("the owner waits for the garbage collector: %v", err)
			}
			k := &fakecluster.Kubelet{Client: f.kube, Clock: f.clock}
			for range test.rounds {
				f.CollectGarbage()
				if err := k.SyncAll(t.Context(), "shop"); err != nil {
					t.Fatal(err)
				}
			}
			_, err := f.sets.Get(t.Context(), "web", metav1.GetOptions{})
			wantError(t, err, apierrors.IsNotFound)
			owners := -1
			if pod, err := f.get("web"); err == nil {
				owners = len(pod.OwnerReferences)
			}
			if owners != test.owners {
				t.Errorf("%d owners of the pod are left, want %d", owners, test.owners)
			}
		})
	}
	t.Run("a protected claim stays while a pod mounts it", func(t *testing.T) {
		f := newFixture(t)
		f.ProtectClaims()
		claims := f.kube.CoreV1().PersistentVolumeClaims("shop")
		must(claims.Create(t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}, metav1.CreateOptions{}))(t)
		f.pod(func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		})
		f.bind("web")
		if err := claims.Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.CollectGarbage()
		if claim := must(claims.Get(t.Context(), "data", metav1.GetOptions{}))(t); claim.DeletionTimestamp == nil {
			t.Error("the claim is not being deleted")
		}
		f.remove(metav1.DeleteOptions{GracePeriodSeconds: &zero})
		f.CollectGarbage()
		_, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
		wantError(t, err, apierrors.IsNotFound)
	})
}

func TestKubelet(t *testing.T) {
	f := newFixture(t)
	k := &fakecluster.Kubelet{Client: f.kube, Clock: f.clock, Broken: func(image string) bool { return image == "web:bad" }}
	step := func() *corev1.Pod {
		t.Helper()
		if err := k.SyncAll(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
		pod, err := f.get("web")
		if err != nil {
			wantError(t, err, apierrors.IsNotFound)
			return nil
		}
		return pod
	}
	ready := func(pod *corev1.Pod) corev1.ConditionStatus {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady {
				return c.Status
			}
		}
		return ""
	}
	f.pod()
	pod := step()
	if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodRunning || ready(pod) != corev1.ConditionTrue {
		t.Errorf("a new pod runs: node %q, %s, ready %s", pod.Spec.NodeName, pod.Status.Phase, ready(pod))
	}
	must(f.patch(types.StrategicMergePatchType, `{"spec":{"containers":[{"name":"main","image":"web:bad"}]}}`))(t)
	pod = step()
	if s := pod.Status.ContainerStatuses[0]; s.RestartCount != 1 || s.ImageID != "sha256:web:bad" || ready(pod) != corev1.ConditionFalse {
		t.Errorf("a broken image: %+v, ready %s", s, ready(pod))
	}
	f.remove(metav1.DeleteOptions{})
	if step() != nil {
		t.Error("a pod that is deleted ends")
	}
}
